"""The wall in a real browser, while phones play.

Needs Chromium and playwright (`make test-browser` installs the latter and names what is missing).
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.engine.tiny_runs import command, start, write_model
from tests.view.made_up_run import HOSTILE
from tests.view.served_pages import served, until

from distrl.agent.policy import Policy
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.live_feed import LiveFeed
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.records import Decision, Observation, Tap, Task, Unreadable
from distrl.runs.run_directory import RunDirectory
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
PHONES = 4


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
