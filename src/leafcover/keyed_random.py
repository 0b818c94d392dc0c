"""Keyed random draws: reproducible row by row with the secret key, unpredictable without it.

A draw is the AES-256 encryption of the block (attempt ‖ row) under a subkey, that is, an AES-256-CTR keystream with
random access. A row's draw therefore does not depend on how the table is split or distributed. Subkeys are derived
from the secret key by HMAC-SHA256 over named components (table fingerprint, plan, step, column), so the same key
gives independent draws for another table, plan or column.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from leafcover.arrays import Array, Floats, Rows, Words
from leafcover.errors import PlanError, TableError, ValueOutOfRange
from leafcover.registry import check_fields, checks_arguments

KEY_BYTES = 32
PART_ROWS = 8192  # drawn at a time
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@check_fields
@dataclass(frozen=True)
class Key:
    """The secret key of a release: 256 bits that determine every random draw.

    Anyone who has the key and the original table can repeat the release, so keep it secret. The representation of a
    key never shows its bytes.

    Parameters
    ----------
    secret : bytes
        Exactly 32 random bytes. Use `Key.fresh` to draw them from the operating system.
    publishable : bool, default True
        Whether a release made with this key may be published. False for a key derived from a seed, because a seed
        can be guessed.

    Examples
    --------
    >>> Key.fresh()
    Key(publishable=True)
    >>> Key.from_seed(1) == Key.from_seed(1), Key.from_seed(1).publishable
    (True, False)
    """

    secret: bytes = field(repr=False)
    publishable: bool = True

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise ValueOutOfRange("The secret of a key", f"{len(self.secret)} bytes", f"{KEY_BYTES} bytes long")

    @staticmethod
    def fresh() -> "Key":
        """Draw a new key from the operating system's source of randomness."""
        return Key(secrets.token_bytes(KEY_BYTES))

    @staticmethod
    @checks_arguments()
    def from_seed(seed: int) -> "Key":
        """Derive a key from a seed, for reproducible experiments. Guessing the seed reveals every draw.

        Parameters
        ----------
        seed : int
            Any whole number.

        Returns
        -------
        Key
            A key whose releases may not be published.

        Examples
        --------
        >>> Key.from_seed(7)
        Key(publishable=False)
        """
        return Key(hashlib.sha256(f"leafcover seed {seed}".encode()).digest(), publishable=False)


def key_from_file(path: Path) -> Key:
    """Read a key from a key file."""
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"Key file {str(path)!r} cannot be read ({_reason(error)}). Choose another key_file."
        raise TableError(message) from None
    try:
        return Key(bytes.fromhex(text))
    except (ValueError, ValueOutOfRange):
        raise TableError(
            f"Key file {str(path)!r} does not contain a key of {2 * KEY_BYTES} hexadecimal digits. "
            "Choose another key_file, or the name of a new file to create a key."
        ) from None


def choose_key(key: Key | None, key_file: str | Path | None, seed: int | None) -> tuple[Key, bool]:
    """The key to use, and whether it is new."""
    chosen = [name for name, one in (("key", key), ("key_file", key_file), ("seed", seed)) if one is not None]
    if len(chosen) > 1:
        given = " and ".join(f"{name}=..." for name in chosen)
        raise PlanError(f"Got {given}, but there is one key. Give a key to publish, or a seed to experiment.")
    if seed is not None:
        return Key.from_seed(seed), False
    if key is not None:
        if not isinstance(key, Key):
            raise PlanError(f"A key must be a leafcover.Key, such as Key.fresh(). Got {type(key).__name__}.")
        return key, False
    if key_file is not None and Path(key_file).exists():
        return key_from_file(Path(key_file)), False
    return Key.fresh(), True


def key_text(key: Key) -> str:
    """The content of a key file. Write it so that only its owner can read it."""
    return key.secret.hex() + "\n"


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not text"


@dataclass(frozen=True)
class Draws:
    """Random draws under one subkey; `sub` derives independent draws for a component."""

    secret: bytes = field(repr=False)

    def sub(self, *names: str | bytes) -> "Draws":
        """Independent draws for a named component."""
        mac = hmac.new(self.secret, digestmod=hashlib.sha256)
        for name in names:
            data = name if isinstance(name, bytes) else name.encode()
            mac.update(len(data).to_bytes(8, "big") + data)  # length prefixes separate ("a", "bc") from ("ab", "c")
        return Draws(mac.digest())

    def words(self, rows: Rows, attempt: int = 0) -> Words:
        """64 random bits for each row number; they depend only on the subkey, the attempt and the row.

        >>> draws = Draws(bytes(32))
        >>> bool((draws.words(np.arange(9))[3:6] == draws.words(np.array([3, 4, 5]))).all())
        True
        """
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        found = np.empty(len(rows), np.uint64)
        # ECB of counter blocks is the CTR keystream, with random access: whole tables and single rows share one path.
        encryptor = Cipher(algorithms.AES(self.secret), modes.ECB()).encryptor()
        # In parts that stay in the cache: at once, a million rows take 60 MB and five times as long.
        for start in range(0, len(rows), PART_ROWS):
            part = rows[start : start + PART_ROWS]
            blocks = np.empty((len(part), 2), ">u8")
            blocks[:, 0] = attempt
            blocks[:, 1] = part
            stream = np.frombuffer(encryptor.update(blocks.tobytes()), "<u8")
            found[start : start + PART_ROWS] = stream[::2]
        return found

    def value_words(self, values: Array, levels: Sequence[str] | None = None) -> Words:
        """A keyed hash of each value: a number, or the code of a level. A level that is a number has its hash.

        >>> draws = Draws(bytes(32))
        >>> draws.value_words(np.array([7.0, np.nan])) == draws.value_words(np.array([0, -1]), ["7.0"])
        array([ True,  True])
        """
        if levels is not None:
            missing = self.value_words(np.array([np.nan]))
            return np.append(self._level_words(levels), missing)[values]  # the code of missing is -1
        # One bit pattern for every nan and for both zeros.
        return self.words(np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64))

    def _level_words(self, levels: Sequence[str]) -> Words:
        keyed, found = hashlib.blake2b(key=self.sub("text").secret, digest_size=8), bytearray()
        for level in levels:
            one = keyed.copy()
            one.update(level.encode("utf-8", "surrogatepass"))
            found += one.digest()
        words = np.frombuffer(bytes(found), "<u8").astype(np.uint64)
        numeric = [at for at, level in enumerate(levels) if NUMBER.fullmatch(level.strip())]
        words[numeric] = self.value_words(np.array([float(levels[at]) for at in numeric]))
        return words

    def uniform(self, rows: Rows, attempt: int = 0) -> Floats:
        """A uniform number strictly between 0 and 1 for each row."""
        return ((self.words(rows, attempt) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
