"""What a command prints must never end it, nor land in one of its files.

`open_streams` is the first thing that a command does:

- A standard stream that was closed (`>&-`, a service without a terminal) leads to /dev/null. Else
  the first file that is opened would get its number, and what is printed would go into that file.
- Letters that the terminal's encoding does not have are printed as question marks.

`outlast_readers` is for commands that run for hours: when nobody reads any more (`| head`, a
terminal that was closed, a disk that is full) they go on, and what is printed is dropped. Other
commands end then, as programs do.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from pathlib import Path
from typing import Any, TextIO, cast

GONE = (errno.EPIPE, errno.EIO, errno.EBADF)  # nobody will ever read there again


def open_streams() -> None:
    """Open what is closed of the three streams, and let them print any text."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed when Python started
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def outlast_readers() -> None:
    """From now on no failure to print is an error."""
    sys.stdout = cast("TextIO", LastingStream(sys.stdout))
    sys.stderr = cast("TextIO", LastingStream(sys.stderr))


class LastingStream:
    """A stream that drops what cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._drop(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._drop(error)

    def _drop(self, error: OSError) -> None:
        """A full disk may have room later; a reader that is gone is gone."""
        if error.errno not in GONE:
            return
        with contextlib.suppress(OSError, ValueError):  # of a stream without a number
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
