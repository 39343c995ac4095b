"""A run in the terminal: a panel that is redrawn, or plain lines."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console

from distrl.episodes.outcome import SuccessRate
from distrl.reporting.live_view import LiveView, curve, duration, panel, plain_line
from distrl.runs.run_status import RunStatus

STATUS = RunStatus(
    name="train-2026-01-05-081500",
    phase="training",
    seconds=300.0,
    progress=0.6,
    success=SuccessRate(41, 120),
    success_before=SuccessRate(9, 100),
    success_history=(math.nan, 0.1, 0.2, 0.38),
    trajectories=1432,
    trajectories_per_minute=274.6,
    updates=388,
    weight_version=97,
    step_seconds=0.412,
    devices=8,
    device_busy=0.978,
    quarantined=1,
    staleness_mean=2.7,
    staleness_max=9,
    queue=3,
    replay=1400,
    faults={"device_lost": 2, "app_crash": 1},
    seconds_left=200.0,
)
NEW = replace(
    STATUS,
    seconds=1.0,
    progress=0.001,
    success=SuccessRate(0, 0),
    success_history=(),
    faults={},
    seconds_left=None,
)


def printed(status: RunStatus, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(panel(status))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        "34%  [26%, 43%]",
        "before training 9% [5%, 16%]",
        "274.6",
        "8 · 98% at work, 1 away",
        "412 ms",
        "version 97",
        "2.7, most 9",
        "3 · replay 1,400",
        "app crash 1, device lost 2",
        "5:00",
        "3:20 to train",
    ],
)
def test_the_panel_shows(words: str) -> None:
    assert words in printed(STATUS)


def test_a_run_that_has_just_begun_says_what_it_does_not_know() -> None:
    shown = printed(NEW)
    assert "to train" not in shown
    assert "nan" not in shown
    assert "none" in shown


def test_the_panel_fits_a_small_terminal() -> None:
    assert max(map(len, printed(STATUS, width=70).splitlines())) <= 70


def test_the_line_has_the_same_figures() -> None:
    assert plain_line(STATUS) == (
        "5:00 · training · success 34% [26%, 43%] · 1432 trajectories (274.6/min) · devices 98% "
        "at work · staleness 2.7 · update 388 (412 ms) · queue 3 · faults 3 · 3:20 to train"
    )


def test_without_a_terminal_lines_come_now_and_then_and_when_the_phase_changes() -> None:
    now, file = [0.0], io.StringIO()
    console = Console(file=file, width=60)
    with LiveView(console, line_seconds=15.0, clock=lambda: now[0]) as view:
        for now[0] in (0.0, 1.0, 14.0, 15.0, 16.0):
            view.show(STATUS)
        view.show(replace(STATUS, phase="evaluating"))
        view.say("checkpoint [written]")
    lines = file.getvalue().splitlines()
    assert [line.split(" · ")[1] for line in lines[:-1]] == ["training", "training", "evaluating"]
    assert lines[-1] == "checkpoint [written]"
    assert "\x1b" not in file.getvalue()


def test_on_a_terminal_the_panel_is_redrawn_and_stays_at_the_end() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system=None)
    with LiveView(console) as view:
        view.show(NEW)
        view.say("a device was lost")
        view.show(STATUS)
    assert "a device was lost" in file.getvalue()
    assert "34%" in file.getvalue().rsplit("distrl", 1)[1]


def test_the_curve_reaches_as_high_as_its_highest_figure() -> None:
    top, middle, bottom = curve((math.nan, 0.0, 0.2, 0.4), width=10, rows=3)
    assert top == " 40%    █"
    assert middle == "       ▄█"
    assert bottom == "  0%   ██"
    assert curve((0.1,) * 200, width=60)[2] == "  0% " + "█" * 60
    assert curve((), rows=1) == [" 10% "]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0:00"), (187.0, "3:07"), (3723.0, "1:02:03"), (-1.0, "0:00")]
)
def test_durations_are_read_at_a_glance(seconds: float, words: str) -> None:
    assert duration(seconds) == words
