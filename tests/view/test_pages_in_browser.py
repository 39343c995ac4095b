"""The page in a real browser: it shows what happens, can be used by keyboard alone, runs nothing.

Needs Chromium and playwright (`make test-browser` installs the latter and names what is missing).
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.many_episodes import write_many_episodes
from tests.engine.tiny_runs import command, start, write_model
from tests.view.made_up_run import HOSTILE

from distrl.agent.policy import Policy
from distrl.devices.browser.chromium import find_chromium
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.live_feed import LiveFeed
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.errors import NotInstalled
from distrl.records import Decision, Observation, Tap, Task, Unreadable
from distrl.runs.run_directory import RunDirectory
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue
from distrl.view.server import Address, serve
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
PHONES = 4
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        program = find_chromium()
    except NotInstalled as error:
        pytest.skip(str(error))
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with closing(launched):
            yield launched


def served(path: Path) -> str:
    """Serve it from a thread of its own for as long as the tests last; returns its address."""
    ready: list[Address] = []
    known = threading.Event()

    def note(address: Address) -> None:
        ready.append(address)
        known.set()

    resources = Resources(RunCatalogue.at(path))
    threading.Thread(target=serve, args=(resources, Address(), note), daemon=True).start()
    assert known.wait(30.0)
    return ready[0].url


@pytest.fixture(scope="module")
def site(runs: Path) -> str:
    return served(runs)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page; an error of its scripts, or a breach of its policy, fails the test."""
    with closing(browser.new_context(viewport={"width": 1280, "height": 800})) as context:
        opened = context.new_page()
        errors: list[str] = []
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.on("console", lambda said: _note(errors, said))
        opened.set_default_timeout(60_000)
        yield opened
        assert not errors


def _note(errors: list[str], said: Any) -> None:
    if said.type == "error" and "404" not in said.text:
        errors.append(said.text)


def until(page: Page, expression: str, seconds: float = 60.0) -> None:
    """Wait for an expression of the page to be true; its policy forbids playwright's own way."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)


class Tapper:
    """Taps somewhere, so that episodes end by their step limit."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        time.sleep(0.02)  # a policy takes its time
        return [
            Decision(Tap(0.5, 0.3 + len(each.past_actions) % 5 / 10), "tap", (1,), (-0.1,), 2)
            for each in observations
        ]


class Attacker:
    """Answers with markup, and is never understood."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        time.sleep(0.02)
        said = Decision(Unreadable(HOSTILE, HOSTILE), HOSTILE, (1,), (-0.1,), 2)
        return [said for _ in observations]


class HostileTasks(SimulatedTasks):
    """Tasks whose instructions are markup."""

    def task(self, template: str, turn: int) -> Task:
        return dataclasses.replace(super().task(template, turn), instruction=HOSTILE)


class Nowhere:
    """A sink for which every trajectory is new."""

    def put(self, trajectory: object) -> bool:
        return True


@contextmanager
def playing(run: RunDirectory, policy: Policy, tasks: SimulatedTasks) -> Iterator[None]:
    """A collector that plays in a thread, in a run that is held as if it trained."""
    names = [f"phone-{number}" for number in range(PHONES)]
    feed = LiveFeed(run.path, "collector-0.1", names)
    collector: Collector[SimulatedDevice] = Collector(
        "collector-0.1", PolicyBatcher(policy), DevicePool([SimulatedDevice(n) for n in names]),
        UniformTasks(tasks), Nowhere(), FactJudge, live=feed,
    )  # fmt: skip
    thread = threading.Thread(target=collector.run, daemon=True)
    with run.held():
        thread.start()
        try:
            yield
        finally:
            collector.stop()
            thread.join(30.0)


def test_text_of_others_stays_text_on_the_wall(runs: Path, site: str, page: Page) -> None:
    run = RunDirectory(runs / "other")
    with playing(run, Attacker(), HostileTasks(("notes.create",))):
        page.goto(f"{site}#/other/wall/phone-1")
        page.wait_for_selector("section.follow h1:has-text('phone-1')")
        until(page, "document.querySelector('section.follow .mono.quote:not(.small)') !== null")
        shown = page.locator("section.follow").text_content() or ""
        assert shown.count(HOSTILE[:40]) >= 2  # the instruction and the answer, as text
        assert page.evaluate("window.hacked") is None
        assert page.locator("main script, main img[src='x']").count() == 0


def test_the_wall_follows_phones_while_they_play(runs: Path, site: str, page: Page) -> None:
    run = RunDirectory(runs / "small")
    with playing(run, Tapper(), SimulatedTasks(("notes.create", "todo.add"))):
        page.goto(f"{site}#/small/wall")
        until(page, f"document.querySelectorAll('.live .who').length === {PHONES}")
        pictures = "[...document.querySelectorAll('.live img')].map((each) => each.src)"
        until(page, f"({pictures}).every((each) => each.startsWith('data:image/jpeg'))")
        steps = "[...document.querySelectorAll('.live .number')].map((e) => e.textContent)"
        before = json.dumps(page.evaluate(steps))
        until(page, f"JSON.stringify({steps}) !== JSON.stringify({before})")
        until(page, "/^v2 · 90 % sure$/.test(document.querySelector('.live .sure').textContent)")
        width = "Number(document.querySelector('section.follow img')?.naturalWidth)"
        page.click(".live a >> nth=1")
        page.wait_for_selector("section.follow h1:has-text('phone-1')")
        until(page, f"{width} >= 180")  # drawn larger for those who follow it
        assert page.locator("#state").text_content() == "running"


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


@pytest.mark.parametrize("path", ["wall", "episodes", "episode/1/1", "curves", "health", "arena"])
def test_a_narrow_screen_needs_no_scrolling_sideways(site: str, page: Page, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site}#/small/{path}")
    page.wait_for_selector("h1")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.slow
@pytest.mark.timeout(900)  # two starts of a run, on a machine that may be busy
def test_a_run_is_watched_while_it_trains_is_killed_and_goes_on(tmp_path: Path, page: Page) -> None:
    model, log = write_model(tmp_path), tmp_path / "train.log"
    words = ["evaluation.before=0", "evaluation.after=0", "run.minutes=30"]
    first = start(command(tmp_path, model, *words), log)
    again = None
    try:
        runs = tmp_path / "runs"
        eventually(lambda: runs.is_dir() and any(runs.glob("*/config.toml")))
        [run] = [RunDirectory(each) for each in runs.iterdir()]
        page.goto(f"{served(runs)}#/{run.path.name}/wall")
        follows_phones(page, 2)
        eventually(lambda: any(run.checkpoints.glob("update-*")))
        first.kill()
        first.wait()
        until(page, "document.querySelector('#state').textContent === 'stopped'", 120.0)
        main = "from distrl.cli.main import main; main()"
        again = start([sys.executable, "-c", main, "train", "--resume", str(run.path)], log)
        until(page, "document.querySelector('#state').textContent === 'running'", 120.0)
        follows_phones(page, 2)
        until(page, "/[1-9]\\d* updates/.test(document.querySelector('.figures-line').textContent)")
    finally:
        for process in (first, again):
            if process is not None:
                process.kill()
                process.wait()


def follows_phones(page: Page, count: int) -> None:
    """Wait until so many phones are on the wall, with pictures, and one of them goes on."""
    shown = "[...document.querySelectorAll('.live .phone')]"
    until(page, f"{shown}.filter((e) => e.querySelector('img[src^=data]')).length === {count}", 300)
    now = f"JSON.stringify({shown}.map((each) => each.textContent))"
    before = json.dumps(page.evaluate(now))
    until(page, f"{now} !== {before}", 300.0)


def eventually(holds: Callable[[], bool], seconds: float = 180.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


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
    for path in ("small/wall", "small/episodes", "small/episode/1/0", "small/health", "runs"):
        page.goto("about:blank")
        page.goto(f"{site}#/{path}")
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
