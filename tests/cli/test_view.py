"""`distrl train --view`: the page runs beside its run, and ends with it."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.view.made_up_run import write_run

from distrl.cli.view import show
from distrl.errors import InvalidSetting, UsageError

BESIDE = """
import sys
from pathlib import Path
from distrl.cli.view import show_along
if __name__ == "__main__":
    show_along(Path(sys.argv[1]))
    sys.stdin.read()
"""


@pytest.mark.slow
def test_the_page_is_served_beside_a_process_and_ends_with_it(tmp_path: Path) -> None:
    run, script = write_run(tmp_path), tmp_path / "beside.py"
    script.write_text(BESIDE)
    command = [sys.executable, str(script), str(run.path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        said = process.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", said)
        with urllib.request.urlopen(f"{said.strip()}data/small/summary.json") as answer:
            assert b'"name":"small"' in answer.read()
        process.kill()
        assert process.stdout.read() == ""  # the page held it open: it has ended, too


def test_what_cannot_be_shown_or_must_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run"):
        show(tmp_path, "127.0.0.1", 0)
    with pytest.raises(InvalidSetting, match="--token"):
        show(write_run(tmp_path).path, "0.0.0.0", 0)
