"""What an evaluation says on the screen and in its file."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from distrl.episodes.outcome import Outcome
from distrl.records import Ending
from distrl.reporting.evaluation_report import EvaluationReport
from distrl.reporting.progress import EvaluationProgress
from phonesim.tasks.task_sets import load_task

SETTINGS = {"model": "made[up]", "split": "test", "seed": 0, "blank": None}


def outcome(
    task_id: str, ending: Ending, steps: int = 5, unreadable: int = 0, version: int = 0
) -> Outcome:
    return Outcome(load_task(task_id)[0], ending, steps, "", unreadable, version)


OUTCOMES = (
    outcome("notes.create/test/0", Ending.SUCCESS, steps=7),
    outcome("notes.create/test/1", Ending.FAILURE, steps=3, unreadable=2, version=4),
    outcome("notes.create/test/2", Ending.DEVICE_LOST, steps=1),
    outcome("maps.note_phone/test/0", Ending.SUCCESS, steps=5),
    outcome("shopping.buy/test/0", Ending.STEP_LIMIT, steps=14, unreadable=1),
)
REPORT = EvaluationReport(SETTINGS, OUTCOMES, wall_s=1.5)


def shown(report: EvaluationReport, width: int = 80) -> str:
    console = Console(width=width, record=True)
    with console.capture() as captured:
        console.print(report.shown())
    return captured.get()


def test_the_figures_of_all_episodes() -> None:
    figures = json.loads(json.dumps(REPORT.figures()))
    assert figures["success"] == 0.5
    assert figures["low"] == pytest.approx(0.150039, abs=1e-6)  # Wilson, 2 of 4
    assert figures["high"] == pytest.approx(0.849961, abs=1e-6)
    assert (figures["episodes"], figures["judged"]) == (5, 4)
    assert figures["endings"] == {"success": 2, "failure": 1, "device_lost": 1, "step_limit": 1}
    assert figures["invalid_rate"] == 3 / 30
    assert figures["steps_mean"] == 6.0
    assert figures["weight_version"] == 4
    assert figures["wall_s"] == 1.5
    assert (figures["model"], figures["split"], figures["seed"]) == ("made[up]", "test", 0)


def test_the_figures_of_each_kind() -> None:
    figures = REPORT.figures()

    def counts(kind: str) -> dict[str, tuple[float, int]]:
        groups = figures[kind]
        assert isinstance(groups, dict)
        return {name: (group["success"], group["episodes"]) for name, group in groups.items()}

    assert counts("by_family") == {"general": (2 / 3, 3), "shopping": (0.0, 1)}
    assert counts("by_template")["notes.create"] == (0.5, 2)
    # A task of two apps counts for both.
    assert counts("by_app") == {"Browser": (0.0, 1), "Maps": (1.0, 1), "Notes": (2 / 3, 3)}
    assert list(counts("by_difficulty")) == ["medium", "hard"]


def test_nothing_judged_is_null_and_not_a_number_that_json_does_not_have() -> None:
    lost = EvaluationReport(SETTINGS, OUTCOMES[2:3], 1.0)
    figures = json.loads(json.dumps(lost.figures(), allow_nan=False))
    assert figures["success"] is None
    assert (figures["low"], figures["high"]) == (0.0, 1.0)
    assert "–" in shown(lost)


def test_the_screen_has_every_kind_and_the_endings() -> None:
    text = shown(REPORT)
    for word in ("made[up]", "all", "general", "medium", "Maps", "create 1/2", "device_lost 1"):
        assert word in text
    assert "50.0%" in text
    assert "invalid actions: 10.0%" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_blanked_evaluation_says_so() -> None:
    blanked = EvaluationReport({**SETTINGS, "blank": "screen"}, OUTCOMES, 1.0)
    assert "without the screen" in shown(blanked)


def test_without_a_terminal_progress_is_a_line_at_each_tenth() -> None:
    console = Console(force_terminal=False)
    with console.capture() as captured, EvaluationProgress(console, 40) as progress:
        for number in range(40):
            progress.count(OUTCOMES[0] if number < 10 else OUTCOMES[1])
    lines = captured.get().splitlines()
    assert len(lines) == 10
    assert lines[0] == "4 of 40 episodes, success 100.0%"
    assert lines[-1] == "40 of 40 episodes, success 25.0%"


def test_on_a_terminal_progress_is_a_bar_with_the_success_so_far() -> None:
    console = Console(force_terminal=True, width=100)
    with console.capture() as captured, EvaluationProgress(console, 3) as progress:
        progress.count(OUTCOMES[0])
        progress.count(OUTCOMES[1])
    assert "success 50.0%" in captured.get()
    assert "2/3" in captured.get()
