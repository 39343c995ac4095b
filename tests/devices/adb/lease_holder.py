"""Another process that has leased a phone: `python -m tests.devices.adb.lease_holder SERIAL DIR`.

It says that it has it, and keeps it until its standard input is closed, or it is killed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from distrl.devices.adb.phone_leases import lease


@contextmanager
def leased_elsewhere(serial: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the phone; it is killed in the end."""
    words = [sys.executable, "-m", "tests.devices.adb.lease_holder", serial, str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"leased\n"
            yield process
        finally:
            process.kill()


if __name__ == "__main__":
    with ExitStack() as opened:
        assert lease(sys.argv[1], Path(sys.argv[2]), opened) is None
        sys.stdout.write("leased\n")
        sys.stdout.flush()
        sys.stdin.read()
