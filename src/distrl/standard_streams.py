"""Make printing safe: it must neither end a command nor write into one of its files.

Every command calls `open_streams` first:

- A closed standard stream (`>&-`, a service without a terminal) is opened on /dev/null. Otherwise
  the next opened file would get its descriptor, and printed text would go into that file.
- Characters that the terminal's encoding lacks are printed as question marks.

`outlast_readers` is for commands that run for hours: if the output can no longer be written
(`| head`, a closed terminal, a full disk) they go on, and the output is dropped. Other commands end
then, as programs usually do.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from pathlib import Path
from typing import Any, TextIO, cast

GONE = (errno.EPIPE, errno.EIO, errno.EBADF)  # the reader is gone for good


def open_streams() -> None:
    """Open those of the three standard streams that are closed, and let them print any text."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed when Python started
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def outlast_readers() -> None:
    """Ignore all write errors of stdout and stderr from now on."""
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
        """Redirect the stream to /dev/null if its reader is gone; a full disk may recover."""
        if error.errno not in GONE:
            return
        with contextlib.suppress(OSError, ValueError):  # a stream without a file descriptor
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
