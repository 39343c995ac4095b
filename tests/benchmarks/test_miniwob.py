"""The pages that `distrl train miniwob` has were chosen by a rule, and not by their results."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks.miniwob import ANSWERED, SETTINGS, SOLVED, answered, ways
from benchmarks.miniwob_answers import ANSWERS
from benchmarks.results_file import RESULTS

from distrl.config.training_config import load_config
from distrl.engine.browser_wiring import build_pages
from distrl.errors import NotInstalled
from distrl.task_sets.miniwob import PREFIX


def test_the_pages_are_those_that_a_player_without_a_model_did_at_its_first_try() -> None:
    solved: dict[str, int] = json.loads(SOLVED.read_text("utf-8"))
    first = {f"{PREFIX}{page}" for page, attempt in solved.items() if attempt == 1}
    templates = load_config(Path("miniwob")).tasks.templates
    assert set(templates) == first
    assert len(templates) >= 20


def test_each_page_with_an_answer_has_been_done() -> None:
    """A page whose answer gives no reward of 1 would be a fault of ours, or of the page."""
    assert set(ANSWERS) <= set(json.loads(SOLVED.read_text("utf-8")))


def test_what_the_player_did_is_counted_apart_from_what_was_answered() -> None:
    solved = {"click-test": 1, "enter-date": ANSWERED, "click-link": 4}
    counted = ways(solved)
    assert counted == {"done_by_a_player_without_a_model": 2, "answered_from_the_page": 1}


def test_the_page_and_the_figures_say_in_which_way_each_page_was_done() -> None:
    solved = json.loads(SOLVED.read_text("utf-8"))
    counted = ways(solved)
    figures = json.loads((RESULTS / "miniwob.json").read_text("utf-8"))
    assert {name: figures[name] for name in counted} == counted
    played, answers = counted.values()
    page = (Path(__file__).parents[2] / "docs/browser.md").read_text("utf-8")
    assert f"shown for {len(solved)}: the player did {played}, and {answers} were answered" in page


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "click-shades",  # several places, one after the other
        "drag-single-shape",
        "number-checkboxes",
        "read-table-2",  # typed into two fields
        "social-media-all",  # below what is in sight
        "terminal",  # Enter
    ],
)
def test_what_the_page_says_gives_its_reward(page: str) -> None:
    with ExitStack() as opened:
        try:
            [device] = build_pages(load_config(None, SETTINGS), ("page",), opened)
            opened.callback(device.close)
            assert answered(device, page)
        except NotInstalled as error:
            pytest.skip(f"left out: {error}")
