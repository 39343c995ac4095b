"""The last draw of each trajectory can be looked up, also while the log is written."""

from __future__ import annotations

import math
from pathlib import Path

from distrl.learning.learner_report import Drawn
from distrl.runs.draw_log import DrawLog, LastDraw, read_draw


def test_a_later_draw_replaces_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "draws.sqlite"
    with DrawLog.open(path) as log:
        log.add(1, [Drawn("a/1", 2.0, 1, (0.5,), (1.0,), (-0.25,)), Drawn("b", 1.0, 1, (), (), ())])
        log.add(7, [Drawn("a/1", 3.0, 2, (0.123456,), (math.inf,), (0.0,))])
        assert read_draw(path, "a/1") == LastDraw(7, 2, 3.0, [0.1235], [None], [0.0])
    assert read_draw(path, "b") == LastDraw(1, 1, 1.0, [], [], [])
    assert read_draw(path, "never drawn") is None
    assert read_draw(tmp_path / "nothing", "a/1") is None


def test_a_file_that_is_no_database_costs_the_log_alone(tmp_path: Path) -> None:
    path = tmp_path / "draws.sqlite"
    path.write_bytes(b"no database, and long enough to be seen as none" * 100)
    with DrawLog.open(path) as log:
        log.add(1, [Drawn("a", 1.0, 1, (), (), ())])
    assert read_draw(path, "a") is None
