"""Draws: seekable by row, independent by name, uniform, and never shown."""

import numpy as np
import pytest
from scipy import stats

from leafcover.errors import LeafcoverError, TableError
from leafcover.keyed_random import Draws, Key, key_from_file, key_text

ROWS = np.arange(200_000)


def test_a_draw_depends_on_the_row_alone():
    draws = Draws(b"k" * 32)
    some = np.array([5, 199_999, 3, 3])
    assert (draws.words(some) == draws.words(ROWS)[some]).all()


def test_attempts_and_names_are_independent():
    draws = Draws(b"k" * 32)
    streams = [draws, draws.sub("a"), draws.sub("a", "b"), draws.sub("ab"), draws.sub("b", "a")]
    words = [stream.words(ROWS[:1000]) for stream in streams] + [draws.words(ROWS[:1000], attempt=1)]
    for i, one in enumerate(words):
        for other in words[:i]:
            assert (one != other).all()


def test_draws_are_the_aes_ctr_keystream():
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    secret = bytes(range(32))
    counter = (7).to_bytes(8, "big") + (1000).to_bytes(8, "big")
    stream = Cipher(algorithms.AES(secret), modes.CTR(counter)).encryptor().update(bytes(16 * 50))
    expected = np.frombuffer(stream, "<u8")[::2]
    assert (Draws(secret).words(np.arange(1000, 1050), attempt=7) == expected).all()


def test_uniforms_are_uniform_and_a_weak_stream_is_caught():
    u = Draws(b"u" * 32).uniform(ROWS)
    assert 0 < u.min() < u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-6
    assert stats.kstest(u**1.02, "uniform").pvalue < 1e-6
    assert stats.kstest(np.where(u < 0.01, 0.5, u), "uniform").pvalue < 1e-6
    bits = np.unpackbits(Draws(b"u" * 32).words(ROWS).view(np.uint8))
    assert abs(bits.mean() - 0.5) < 5 * 0.5 / np.sqrt(len(bits))


def test_a_key_survives_its_file(tmp_path):
    path, key = tmp_path / "key", Key.fresh()
    path.write_text(key_text(key))
    assert key_from_file(path).secret == key.secret


@pytest.mark.parametrize("content", ["", "not a key", "ab" * 31, "zz" * 32, "\xff"])
def test_a_file_that_holds_no_key_is_refused(tmp_path, content):
    path = tmp_path / "key"
    path.write_text(content, "latin-1")
    with pytest.raises(TableError, match="key"):
        key_from_file(path)


def test_a_key_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(LeafcoverError, match="cannot be read"):
        key_from_file(tmp_path / "no" / "key")


def test_a_seed_repeats_and_is_not_publishable():
    assert Key.from_seed(7).secret == Key.from_seed(7).secret != Key.from_seed(8).secret
    assert not Key.from_seed(7).publishable


def test_keys_and_draws_do_not_show_their_bytes():
    key = Key.fresh()
    assert key.secret.hex() not in repr(key)
    assert str(key.secret) not in repr(Draws(key.secret))
