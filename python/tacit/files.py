"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Replaces what is at path by data, or leaves it as it is; readable by the owner only."""
    path = os.fspath(path)
    directory = os.path.dirname(path) or "."
    handle, beside = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    folder = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()
