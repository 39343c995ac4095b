"""A run in the terminal: a panel that is redrawn, or plain lines."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console

from distrl.episodes.outcome import PairedGain, SuccessRate
from distrl.reporting.live_view import (
    LiveView,
    StatusPanel,
    curve,
    duration,
    gain_words,
    plain_line,
)
from distrl.runs.run_status import AWAY, WAITS, WORKS, RunStatus

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
    phone_time={"deciding": 0.7, "playing": 0.21, "admission": 0.085, "other": 0.005},
    learner_time={"updating": 0.94, "waiting": 0.06},
    quarantined=1,
    staleness=2.7,
    effective_sample_share=0.83,
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
    console.print(StatusPanel(status))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        "34%  [26%, 43%]",
        "before training 9% [5%, 16%]",
        "274.6",
        "8, 1 away",
        "deciding 70%, playing 21%, admission 8%",
        "updating 94%, waiting 6%",
        "412 ms",
        "version 97",
        "2.7 · 83% effective",
        "3 · replay 1,400",
        "app crash 1, device lost 2",
        "5:00",
        "3:20 to train",
    ],
)
def test_the_panel_shows(words: str) -> None:
    assert words in printed(STATUS)


@pytest.mark.parametrize(
    ("gain", "moved", "words"),
    [
        (PairedGain(20, 10, 0), True, "+50 points [+23, +68] on the same 20 tasks"),
        (PairedGain(20, 0, 10), True, "-50 points [-68, -23] on the same 20 tasks"),
        (
            PairedGain(4, 1, 0),
            True,
            "+25 points [-28, +61] on the same 4 tasks: no gain that counts",
        ),
        (
            PairedGain(4, 4, 0),
            False,
            "no update moved the policy's weights: a difference means nothing",
        ),
        (PairedGain(0, 0, 0), True, "no task was played both before and after"),
    ],
)
def test_a_gain_is_called_one_only_where_it_counts(
    gain: PairedGain, moved: bool, words: str
) -> None:
    assert gain_words(gain, weights_moved=moved) == words


def test_a_run_that_has_just_begun_says_what_it_does_not_know() -> None:
    shown = printed(NEW)
    assert "to train" not in shown
    assert "nan" not in shown
    assert "none" in shown


@pytest.mark.parametrize("width", [44, 70, 100, 200])
def test_the_panel_uses_the_width_that_it_has(width: int) -> None:
    assert max(map(len, printed(STATUS, width).splitlines())) == width


def test_environments_are_told_apart_where_there_are_several() -> None:
    rates = {"phone": SuccessRate(40, 80), "pages": SuccessRate(1, 40)}
    several = replace(STATUS, success_by_environment=rates)
    words = "phone 50% [39%, 61%], pages 2% [0%, 13%]"
    assert words in printed(several, width=140)
    assert f"success 34% [26%, 43%] ({words})" in plain_line(several)
    assert "environment" not in printed(STATUS)


def test_a_gpu_is_shown_where_there_is_one() -> None:
    assert "GPU" not in printed(STATUS)
    used = printed(replace(STATUS, gpu_gigabytes=31.24, gpu_memory_share=0.22))
    assert "31.2 GB · 22%" in used


def test_all_of_it_fits_a_terminal_of_24_rows() -> None:
    status = replace(STATUS, phones=WORKS * 8, evaluating="before 3/9", history_seconds=5.0)
    console = Console(file=io.StringIO(), width=80, height=24, color_system=None)
    assert len(console.render_lines(StatusPanel(status))) <= 24


def test_phones_are_a_small_wall_of_states() -> None:
    shown = printed(replace(STATUS, phones=WORKS * 5 + WAITS + AWAY))
    assert "● ● ● ● ● · ×" in shown
    assert "5 at work, 1 waiting, 1 away" in shown
    crowd = printed(replace(STATUS, phones=WORKS * 1000), width=70)
    assert "1000 at work; 872 are not drawn" in crowd


def test_it_says_what_is_special_about_the_phase() -> None:
    status = replace(STATUS, detail="the critic warms up: update 3 of 10, resumed at update 2")
    assert "training: the critic warms up: update 3 of 10, resumed at update 2" in printed(status)
    assert "training (the critic warms up: update 3 of 10, " in plain_line(status)


def test_something_turns_before_there_is_anything_to_show() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system=None)
    with LiveView(console):
        pass
    assert "preparing: settings, model, phones" in file.getvalue()


def test_the_line_has_the_same_figures() -> None:
    assert plain_line(STATUS) == (
        "5:00 · training · success 34% [26%, 43%] · 1432 trajectories (274.6/min) · phones "
        "deciding 70%, playing 21% · learner updating 94%, waiting 6% · staleness drawn 2.7 (83% "
        "effective) · update 388 (412 ms) · queue 3 · faults 3 · 3:20 to train"
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


def test_on_a_terminal_that_cannot_redraw_there_are_lines() -> None:
    file = io.StringIO()
    dumb = Console(file=file, width=200, force_terminal=True, _environ={"TERM": "dumb"})
    with LiveView(dumb, clock=lambda: 0.0) as view:
        view.show(STATUS)
        assert plain_line(STATUS) in file.getvalue()


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
    assert bottom == "  0%  ▁██"  # a gap stays empty, 0 % does not
    assert curve((0.1,) * 200, width=60)[2] == "  0% " + "█" * 60
    assert curve((), width=60, rows=1) == [" 10% "]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0:00"), (187.0, "3:07"), (3723.0, "1:02:03"), (-1.0, "0:00")]
)
def test_durations_are_read_at_a_glance(seconds: float, words: str) -> None:
    assert duration(seconds) == words
