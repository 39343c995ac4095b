"""The page in a real browser: it shows what happens, can be used by keyboard alone, runs nothing.

Needs Chromium and playwright (`make test-browser` installs the latter and names what is missing).
"""

from __future__ import annotations

import dataclasses
import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.many_episodes import write_many_episodes
from tests.view.made_up_run import HOSTILE, hostile, line_of, write_run
from tests.view.scored_run import write_scored_run
from tests.view.served_pages import served, until

from distrl.json_lines import LineLog
from distrl.judging.judge_prompt import JudgePrompt
from distrl.judging.vlm_judge import JudgeCache
from distrl.records import Verdict
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.view.bundle import write_bundle
from distrl.view.resources import Resources

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")


def test_an_episode_is_scrubbed_with_the_keyboard_and_has_a_permalink(
    site: str, page: Page
) -> None:
    page.goto(f"{site}#/small/episode/1/0")
    page.wait_for_selector("h2:has-text('Step 1 of')")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("h2:has-text('Step 3 of')")
    assert page.url.endswith("#/small/episode/1/2")
    page.keyboard.press("End")
    page.wait_for_selector("h2:has-text('The end')")
    page.goto("about:blank")
    page.goto(f"{site}#/small/episode/1/2")
    page.wait_for_selector("h2:has-text('Step 3 of')")
    assert page.locator(".figures b").first.text_content() == "25.0 %"
    assert page.locator(".strip button[aria-current=step]").text_content() == "3"


def test_a_list_is_filtered_and_searched_and_its_address_says_so(site: str, page: Page) -> None:
    page.goto(f"{site}#/small/episodes")
    page.wait_for_selector("text=4 of 4")
    page.select_option("select[aria-label='Any ending']", "failure")
    page.wait_for_selector("text=1 of 4")
    assert "ending=failure" in page.url
    page.select_option("select[aria-label='Any ending']", "")
    page.fill("input[aria-label^=Surprise]", "0,9")  # nats: the hostile one was less sure
    page.wait_for_selector("text=1 of 4")
    assert "surprise=0%2C9" in page.url
    page.goto("about:blank")
    page.goto(f"{site}#/small/episodes?q=alarm")
    page.wait_for_selector("text=1 of 4")
    assert page.locator(".list a .template").all_text_contents() == ["clock.set_alarm"]


def test_everything_can_be_reached_by_keyboard(site: str, page: Page) -> None:
    page.goto(f"{site}#/small/wall")
    page.wait_for_selector("h1:has-text('Wall')")
    for key, title in (
        ("3", "Curves"),
        ("4", "Health"),
        ("5", "Runs"),
        ("6", "Arena"),
        ("2", "Episodes"),
    ):
        page.keyboard.press(key)
        page.wait_for_selector(f"h1:has-text('{title}')")
    page.keyboard.press("/")
    page.keyboard.type("search")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("h2:has-text('Step 1 of')")
    page.keyboard.press("Escape")
    page.wait_for_selector("h1:has-text('Episodes')")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")


def test_text_of_others_stays_text(site: str, page: Page) -> None:
    for path in ("small/episode/4/0", "small/episode/4/2", "small/episodes", "small/wall", "runs"):
        page.goto("about:blank")
        page.goto(f"{site}#/{path}")
        page.wait_for_selector("h1")
        page.wait_for_timeout(300)
        assert page.evaluate("window.hacked") is None
        assert page.locator("main script, main img[src='x']").count() == 0
    page.goto(f"{site}#/small/episode/4/0")
    assert HOSTILE in (page.locator("h1").first.text_content() or "")


@pytest.mark.parametrize(
    "path", ["wall", "episodes", "episode/1/1", "curves", "health", "runs", "arena"]
)
def test_a_narrow_screen_needs_no_scrolling_sideways(site: str, page: Page, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site}#/small/{path}")
    page.wait_for_selector("h1")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_two_agents_are_watched_side_by_side(site: str, page: Page) -> None:
    page.goto(f"{site}#/small/arena/other")
    page.wait_for_selector("h1:has-text('Arena')")
    page.wait_for_selector("text=Step 1 of")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelectorAll('.side b').length === 2")
    assert page.locator(".side b").all_text_contents()[0].startswith("Step 2 of")
    assert page.url.split("/")[-1] == "1"  # a permalink
    page.keyboard.press("End")
    until(page, "document.querySelector('.side b').textContent === 'The end'")


def test_weights_that_are_not_kept_are_said_to_be(site: str, page: Page) -> None:
    page.goto(f"{site}#/small/episode/1/0")
    page.wait_for_selector("text=Version 3, which decided this step, is not kept")
    options = page.locator("select[aria-label='Weights on the left'] option").all_text_contents()
    assert options == ["before training"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(site: str, page: Page, theme: str) -> None:
    """At least 4.5 : 1 between a text and what is behind it, on every page."""
    media: Any = {"color_scheme": theme}
    page.emulate_media(**media)
    pages = ("wall", "episodes", "episode/1/0", "curves", "health", "runs", "arena/other")
    for path in pages:
        page.goto("about:blank")
        page.goto(f"{site}#/small/{path}")
        page.wait_for_selector("h1")
        assert page.evaluate(CONTRAST) == []


def test_nothing_moves_for_those_who_do_not_want_it(site: str, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{site}#/small/wall")
    page.wait_for_selector("h1")
    assert page.evaluate("document.getAnimations().length") == 0
    names = (
        "[...document.querySelectorAll('*')].map((each) => getComputedStyle(each).animationName)"
    )
    assert set(page.evaluate(names)) == {"none"}


def test_two_runs_are_compared_task_by_task(site: str, page: Page) -> None:
    page.goto(f"{site}#/runs")
    page.wait_for_selector("h2:has-text('Task by task')")
    page.select_option("select[aria-label='One run']", "small")
    page.select_option("select[aria-label='The other run']", "other")
    page.wait_for_selector("text=1 tasks won, 0 lost, 1 as before")
    assert page.locator("td.mono:has-text('run.seed')").count() == 1


def test_runs_are_laid_over_each_other_by_any_metric(site: str, page: Page) -> None:
    page.goto(f"{site}#/small/runs")
    page.wait_for_selector("h2:has-text('Success of training episodes')")
    page.select_option("select[aria-label='What is drawn']", "learner/loss/policy")
    page.wait_for_selector("h2:has-text('Policy loss')")
    assert page.locator(".legend span").all_text_contents() == ["2 seeds: other …"]
    page.click("text=seeds together")
    until(page, "document.querySelectorAll('.legend span').length === 2")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("h2:has-text('Policy loss')")


def test_a_chart_is_read_by_keyboard(site: str, page: Page) -> None:
    page.goto(f"{site}#/small/curves")
    chart = page.locator("svg[aria-label='Policy loss']")
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    tip = page.locator(".chart:has(svg[aria-label='Policy loss']) .tip")
    assert tip.text_content() == "2\n0.5"  # its second point
    page.keyboard.press("+")
    page.keyboard.press("Home")
    assert tip.text_content() == "1\n1"
    page.keyboard.press("-")
    page.keyboard.press("End")
    assert tip.text_content() == "5\n0.2"


def test_a_judges_reply_stays_text(tmp_path: Path, page: Page) -> None:
    run, prompt = write_run(tmp_path), JudgePrompt()
    judge = f"vlm/some-model/{prompt.hash}"
    asked = dataclasses.replace(
        hostile(), id="c/1/notes.create/train/8", verdict=Verdict(False, HOSTILE, judge)
    )
    with (
        TrajectoryStore(run.trajectories) as store,
        LineLog.open(run.episodes) as lines,
        JudgeCache(run.judge_cache) as cache,
    ):
        store.append(asked)
        lines.append(line_of(asked, 5))
        cache.add(prompt.key_of(prompt.case_of(asked)), Verdict(False, "no", judge), HOSTILE)
    page.goto(f"{served(tmp_path)}#/small/episode/5/2")
    page.click("summary:has-text('What the judge was asked')")
    page.wait_for_selector("h3:has-text('its reply')")
    assert (page.locator("details p").last.text_content() or "") == HOSTILE
    assert page.evaluate("window.hacked") is None
    assert page.locator("main script, main img[src='x']").count() == 0


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Any web server will do for a bundle; this one keeps no log."""

    def log_message(self, *_: object) -> None: ...


@contextmanager
def published(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_bundle_is_looked_at_like_a_run(resources: Resources, tmp_path: Path, page: Page) -> None:
    write_bundle(resources, tmp_path / "out")
    titles = {"episodes": "Episodes", "curves": "Curves", "health": "Health", "arena": "Arena"}
    with published(tmp_path / "out") as address:
        page.goto(f"{address}#/small/episode/1/0")
        page.wait_for_selector("h2:has-text('Step 1 of')")
        page.wait_for_selector("text=None of this run's weights are kept here")
        until(page, "document.querySelector('.xray img').naturalWidth > 0")
        for name, title in (titles | {"wall": "Wall", "runs": "Runs"}).items():
            page.goto(f"{address}#/small/{name}")
            page.wait_for_selector(f"h1:has-text('{title}')")
        page.goto(f"{address}report-small.html")
        page.wait_for_selector("h1")


@pytest.mark.slow
def test_two_weights_are_asked_about_a_step(tmp_path: Path, page: Page) -> None:
    run = write_scored_run(tmp_path)
    page.goto(f"{served(run.path)}#/{run.path.name}/episode/1/0")
    page.click("button:has-text('Compare')")
    page.wait_for_selector("text=/^(Both|They) would answer/", timeout=180_000)
    heads = page.locator(".opinion h3").all_text_contents()
    assert heads == ["before training", "version 2"]
    page.click(".opinion button.token >> nth=0")
    assert page.locator(".opinion .others:not([hidden])").count() == 1


def test_dark_mode_follows_the_system_and_can_be_switched(site: str, page: Page) -> None:
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.goto(f"{site}#/small/health")
    page.wait_for_selector("h1")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.slow
def test_ten_thousand_episodes_are_listed_at_once(tmp_path: Path, page: Page) -> None:
    run = write_many_episodes(tmp_path / "large", 10_000)
    address = served(run.path)
    page.goto(f"{address}#/large/episodes")
    page.wait_for_selector("text=10,000 of 10,000")
    assert page.locator(".list a").count() < 60  # only those in sight
    page.wait_for_selector(".list a:has-text('Write down the number 9999')")
    page.keyboard.press("End")
    page.wait_for_selector(".list a:has-text('Write down the number 0')")
    page.fill("input[type=search]", "number 1234")
    page.wait_for_selector("text=2 of 10,000")  # of that number, and that says it
