"""Whatever became of a command's output, the command goes on and its files stay its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from distrl.standard_streams import LastingStream

CLOSED = """
import os, sys
from distrl.standard_streams import open_streams
open_streams()
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
print("to the terminal")
os.write(1, b"to the terminal"), os.write(2, b"to the terminal")
os.write(file, b"to the file")
"""
ODD_LETTERS = """
from distrl.standard_streams import open_streams
open_streams()
print("12 \\N{MULTIPLICATION SIGN} 3, half a letter \\udcff")
"""
NO_READER = """
import sys
from distrl.standard_streams import outlast_readers
outlast_readers()
sys.stdin.read()  # until the reader has gone
for _ in range(3):
    print("a line", flush=True)
print("it went on", file=sys.stderr)
"""


def python(code: str, *words: str, shell: str = "", **variables: str) -> str:
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, "-c", code, *words]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("closed", [">&- 2>&-", "<&- >&- 2>&-", "<&-"])
def test_no_file_gets_the_number_of_a_closed_stream(tmp_path: Path, closed: str) -> None:
    python(CLOSED, str(tmp_path / "log"), shell=closed)
    assert (tmp_path / "log").read_text() == "to the file"


def test_letters_that_cannot_be_printed_are_question_marks() -> None:
    assert python(ODD_LETTERS, PYTHONIOENCODING="ascii") == "12 ? 3, half a letter ?\n"
    assert python(ODD_LETTERS, PYTHONIOENCODING="utf-8") == "12 × 3, half a letter ?\n"


def test_a_command_outlasts_whoever_reads_what_it_prints() -> None:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", NO_READER], stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, said = process.communicate()
    assert said == b"it went on\n"  # and nothing of an exception that was ignored
    assert process.returncode == 0


def test_a_full_disk_is_printed_to_again() -> None:
    with Path("/dev/full").open("w") as full, Path(os.devnull).open("wb") as room:
        stream = LastingStream(full)
        assert stream.write("a line\n") == 7
        stream.flush()
        assert Path(f"/proc/self/fd/{full.fileno()}").readlink() == Path("/dev/full")
        os.dup2(room.fileno(), full.fileno())
