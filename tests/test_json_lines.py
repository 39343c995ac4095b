"""Lines on disk: whole or not there, whatever happens to who writes them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from distrl.errors import CorruptLog, StorageError
from distrl.json_lines import LineLog, decode_line, encode_line, read_lines, whole_lines
from distrl.records import Ending
from distrl.runs.run_records import EpisodeLine, Point


def point(number: int, **figures: float) -> Point:
    return Point("learner", number, number / 2, figures)


def test_lines_are_read_back_as_the_records_they_were(tmp_path: Path) -> None:
    episode = EpisodeLine(
        "a/0", "notes.create/train/0", "notes.create", Ending.STEP_LIMIT, 3, 1, 2, "é", 0.0, 1.5
    )
    with LineLog.open(tmp_path / "lines") as log:
        log.append(episode)
    assert read_lines(tmp_path / "lines", EpisodeLine) == [episode]
    assert read_lines(tmp_path / "nowhere", EpisodeLine) == []


def test_no_flipped_bit_of_a_line_goes_unnoticed() -> None:
    """Those of its checksum neither, by which it would pass for a line that never had one."""
    line = encode_line(point(3, loss=0.5)).rstrip(b"\n")
    for at in range(len(line)):
        for bit in range(8):
            changed = line[:at] + bytes([line[at] ^ 1 << bit]) + line[at + 1 :]
            with pytest.raises(ValueError, match=r"."):
                decode_line(changed, Point)


def test_what_is_no_number_is_written_as_json_has_it(tmp_path: Path) -> None:
    with LineLog.open(tmp_path / "lines") as log:
        log.append(point(1, loss=math.nan, ratio=math.inf, fine=0.5))
    [line] = (tmp_path / "lines").read_text().splitlines()
    assert json.loads(line, parse_constant=pytest.fail)["figures"]["fine"] == 0.5
    [read] = read_lines(tmp_path / "lines", Point)
    assert read.figures == {"loss": None, "ratio": None, "fine": 0.5}


def test_numbers_of_numpy_and_texts_that_utf_8_cannot_hold_are_written(tmp_path: Path) -> None:
    with LineLog.open(tmp_path / "lines") as log:
        log.append(point(1, loss=np.float64(0.25), ratio=np.float64("nan")))
        log.append({"reason": "\ud800", "value": math.nan})
    first, second = (tmp_path / "lines").read_bytes().splitlines()
    assert decode_line(first, Point).figures == {"loss": 0.25, "ratio": None}
    json.loads(second, parse_constant=pytest.fail)
    assert decode_line(second, dict[str, str | None]) == {"reason": "\ud800", "value": None}


def test_what_cannot_be_written_is_refused_and_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    with LineLog.open(tmp_path / "lines") as log:
        with pytest.raises(TypeError, match="a object cannot be written as JSON"):
            log.append({"x": object()})
        assert whole_lines(tmp_path / "lines") == []


@pytest.mark.parametrize("torn", [b'{"series', b"x" * 200_000])
def test_a_torn_last_line_is_left_out_and_cut_off_before_the_next(
    tmp_path: Path, torn: bytes
) -> None:
    path = tmp_path / "lines"
    with LineLog.open(path) as log:
        log.append(point(1))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert read_lines(path, Point) == [point(1)]
    with LineLog.open(path) as log:
        log.append(point(2))
    assert read_lines(path, Point) == [point(1), point(2)]


def test_a_file_that_is_one_torn_line_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"{")
    with LineLog.open(tmp_path / "lines") as log:
        log.append(point(1))
    assert read_lines(tmp_path / "lines", Point) == [point(1)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "line 2 is no Point: Expecting value"),
        ("{}", "line 2 is no Point: Object missing required field `series`"),
        (
            '{"series": "learner", "updates": 1.5}',
            'got `float` - at `$.updates`: \'{"series": "learner", "updates": 1.5}\'',
        ),
        (
            '{"series": "weather", "updates": 1, "seconds": 0, "figures": {}}',
            "'weather' - at `$.series`",
        ),
    ],
)
def test_a_whole_line_that_is_no_record_is_an_error(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "lines"
    with LineLog.open(path) as log:
        log.append(point(1))
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(CorruptLog) as refused:
        read_lines(path, Point)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_line_that_is_nested_too_deeply_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("[" * 100_000 + "\n")
    with pytest.raises(CorruptLog, match="line 1 is no Point: it is nested too deeply"):
        read_lines(tmp_path / "a.jsonl", Point)


def run(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    head = "import os, resource, signal, sys\nfrom pathlib import Path\n"
    head += "from distrl.json_lines import LineLog\n"
    head += "from distrl.runs.run_records import Point\n"
    head += "path = Path(sys.argv[1])\n"
    return subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_what_was_appended_outlives_a_kill(tmp_path: Path) -> None:
    killed = run(
        """
        log = LineLog.open(path)
        for number in range(5):
            log.append(Point("learner", number, 0.0, {}))
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        tmp_path / "lines",
    )
    assert killed.returncode == -9
    assert [read.updates for read in read_lines(tmp_path / "lines", Point)] == [0, 1, 2, 3, 4]


def test_a_full_disk_leaves_whole_lines_and_the_log_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    done = run(
        """
        from distrl.errors import StorageFull
        log = LineLog.open(path)
        log.append(Point("learner", 1, 0.0, {}))
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        try:
            log.append(Point("learner", 2, 0.0, {"long": 1.0}))
        except StorageFull as error:
            print(error)
        assert path.read_bytes().endswith(b"}\\n"), path.read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        log.append(Point("learner", 3, 0.0, {}))
        log.close()
        """,
        tmp_path / "lines",
    )
    assert done.returncode == 0, done.stderr
    assert "writing a line to" in done.stdout
    assert [read.updates for read in read_lines(tmp_path / "lines", Point)] == [1, 3]


def test_a_place_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"opening .*lines to write to it: No such file"):
        LineLog.open(tmp_path / "nowhere" / "lines")


def test_closing_twice_is_closing(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    log = LineLog.open(tmp_path / "lines")
    log.close()
    log.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_anywhere_in_a_line_never_gives_another_record(
    tmp_path: Path, bit: int
) -> None:
    path, record = tmp_path / "lines", point(7, loss=0.125, entropy=1.5)
    with LineLog.open(path) as log:
        log.append(record)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        try:
            assert read_lines(path, Point) in ([record], [])  # []: the newline is gone, a torn line
        except CorruptLog:
            continue
