"""Keys of pseudonyms: the same key gives the same pseudonyms, and whoever has it can find out whom they stand for."""

import os
from typing import TYPE_CHECKING

from tcpstall.errors import CannotOpen, CannotWrite

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["derived", "fresh", "stored"]

_BYTES = 32
"""Two keys of AES-128, as the core takes them."""

_LEAST = 16
"""Bytes of a key file: fewer can be tried out."""

_PURPOSE = b"tcpstall pseudonyms 1\0"


def fresh() -> bytes:
    """A key that nobody else has, and nobody afterwards."""
    return os.urandom(_BYTES)


def stored(path: "Path") -> tuple[bytes, bool]:
    """The key in that file, whatever form it has, and whether the file had to be made: for its owner's eyes only.

    Raises CannotOpen for a file that cannot be read or holds too little, CannotWrite where none can be made.
    """
    try:
        return _read(path), False
    except FileNotFoundError:
        return _made(path), True
    except OSError as error:
        raise CannotOpen(f"cannot open {path}: {error.strerror or error}") from error


def derived(key: bytes) -> bytes:
    """The key as the core takes it: a digest, because the key may have any length."""
    import hashlib

    return hashlib.sha256(_PURPOSE + key).digest()


def _read(path: "Path") -> bytes:
    key = path.read_bytes().strip()
    if len(key) < _LEAST:
        raise CannotOpen(f"{path} holds too short a key: {len(key)} bytes, at least {_LEAST} are needed")
    return key


def _made(path: "Path") -> bytes:
    key = fresh().hex().encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, key + b"\n")
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error
    return key
