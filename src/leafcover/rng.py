"""Secret random draws by row: the same whole, in parts or on a cluster, and unpredictable without the key.

A draw is AES-256 of the block (attempt ‖ row) under a sub-key: an AES-256-CTR keystream read at any place.
Sub-keys come from the secret key by HMAC-SHA256 over named parts (table fingerprint, plan, step, column), so the
same key on another table, plan or column gives independent noise.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from leafcover.arrays import Floats, Rows, Words
from leafcover.errors import TableError, ValueOutOfRange

KEY_BYTES = 32


@dataclass(frozen=True)
class Key:
    """A secret of 256 bits; one made from a seed can be guessed and is marked so. It never shows its bytes."""

    secret: bytes = field(repr=False)
    publishable: bool = True

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise ValueOutOfRange("A key", f"{len(self.secret)} bytes", f"{KEY_BYTES} bytes long")

    @staticmethod
    def fresh() -> "Key":
        """A new key from the operating system."""
        return Key(secrets.token_bytes(KEY_BYTES))

    @staticmethod
    def from_seed(seed: int) -> "Key":
        """A repeatable key for experiments; whoever guesses the seed undoes the noise."""
        return Key(hashlib.sha256(f"leafcover seed {seed}".encode()).digest(), publishable=False)


def key_from_file(path: Path) -> Key:
    """The key kept in a file."""
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        said = f"The key file {str(path)!r} cannot be read ({_reason(error)}). Name another --key-file."
        raise TableError(said) from None
    try:
        return Key(bytes.fromhex(text))
    except (ValueError, ValueOutOfRange):
        raise TableError(
            f"The key file {str(path)!r} holds no key of {2 * KEY_BYTES} hexadecimal digits. "
            "Name another --key-file, or a new one to make a key."
        ) from None


def key_text(key: Key) -> str:
    """What a key file holds; it must be written for its owner alone."""
    return key.secret.hex() + "\n"


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not text"


@dataclass(frozen=True)
class Draws:
    """Draws under one sub-key; ``sub`` makes the draws of something inside it."""

    secret: bytes = field(repr=False)

    def sub(self, *names: str | bytes) -> "Draws":
        """Independent draws for a named part."""
        mac = hmac.new(self.secret, digestmod=hashlib.sha256)
        for name in names:
            data = name if isinstance(name, bytes) else name.encode()
            mac.update(len(data).to_bytes(8, "big") + data)  # lengths keep ("a", "bc") apart from ("ab", "c")
        return Draws(mac.digest())

    def words(self, rows: Rows, attempt: int = 0) -> Words:
        """Sixty-four random bits for each row number, by (sub-key, attempt, row) alone.

        >>> draws = Draws(bytes(32))
        >>> bool((draws.words(np.arange(9))[3:6] == draws.words(np.array([3, 4, 5]))).all())
        True
        """
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        blocks = np.empty((len(rows), 2), ">u8")
        blocks[:, 0] = attempt
        blocks[:, 1] = rows
        # ECB of counter blocks is the CTR keystream itself, at any rows: one path for whole tables and single rows.
        encryptor = Cipher(algorithms.AES(self.secret), modes.ECB()).encryptor()
        stream = encryptor.update(blocks.tobytes())
        return np.frombuffer(stream, "<u8").reshape(-1, 2)[:, 0].astype(np.uint64)

    def uniform(self, rows: Rows, attempt: int = 0) -> Floats:
        """A number strictly between 0 and 1 for each row."""
        return ((self.words(rows, attempt) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
