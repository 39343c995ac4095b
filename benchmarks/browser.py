"""Measure browser pages as devices: step time beside Playwright's, memory, and faults.

step      tap and screenshot on one MiniWoB page: drawn on demand, with pages sharing a browser,
          and by Playwright in an ordinary Chromium at the same size
memory    proportional set size of eight pages: one browser each, and one browser for all
monkey    random actions over all pages; every error raised must be a typed one
kill      browsers are killed in the middle of episodes: each kill must cost only that episode
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.miniwob import SETTINGS
from benchmarks.results_file import update_results
from distrl.agent.simple_policies import ConstantPolicy, MonkeyPolicy
from distrl.config.training_config import load_config
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.chromium import PROGRAMS
from distrl.engine.browser_wiring import build_pages
from distrl.episodes.episode import run_episode
from distrl.errors import ActionFailed, DistrlError, NotInstalled
from distrl.records import (
    Action,
    Decision,
    Ending,
    LongPress,
    Observation,
    Screen,
    Tap,
    Wait,
)
from distrl.task_sets.miniwob import MiniwobJudge, find_pages
from distrl.task_sets.page_server import PageServer

PAGE, AT = "click-test-2", Tap(0.9, 0.3)


def main() -> None:
    given = _arguments()
    parts: dict[str, Callable[[], dict[str, float]]] = {
        "step": lambda: step_figures(given.steps),
        "memory": memory_figures,
        "monkey": lambda: monkey_figures(given.actions, given.threads),
        "kill": lambda: kill_figures(given.kills),
    }
    for name, measure in parts.items():
        if name in given.parts:
            figures = measure()
            print(name, figures, flush=True)
            update_results("browser", figures, name)


def opened_pages(count: int, pages: int, opened: ExitStack) -> list[BrowserDevice]:
    config = load_config(None, [*SETTINGS, f"devices.browser.pages={pages}"])
    devices = build_pages(config, tuple(f"page-{n}" for n in range(count)), opened)
    for device in devices:
        opened.callback(device.close)
        device.reset(0)
        MiniwobJudge(device).begin(find_pages().task(PAGE, "train", 0))
        device.screen()
    return devices


# Steps -------------------------------------------------------------------------------------------


def step_figures(steps: int) -> dict[str, float]:
    program, figures = ordinary_chromium(), dict[str, float]()
    for name, pages in (("shared_step", 2), ("step", 1)):
        with ExitStack() as opened:
            [device] = opened_pages(1, pages, opened)
            tap = partial(device.perform, AT)
            figures |= _spread(name, [_timed(tap) for _ in range(steps)])
    with ExitStack() as opened:
        [device] = opened_pages(1, 1, opened)
        figures |= _spread("elements", [_timed(device.elements) for _ in range(steps // 4)])
        figures |= _spread("reset", [_timed(partial(_begin, device)) for _ in range(steps // 6)])
    return figures | playwright_figures(steps, program)


def _begin(device: BrowserDevice) -> Screen:
    device.reset(0)
    MiniwobJudge(device).begin(find_pages().task(PAGE, "train", 1))
    return device.screen()


def ordinary_chromium() -> str:
    """Return the path of the Chromium that Playwright is measured with."""
    for name in PROGRAMS[3:]:
        if (path := shutil.which(name)) is not None:
            return path
    raise NotInstalled(
        f"none of {', '.join(PROGRAMS[3:])} is installed; Playwright is measured with an ordinary "
        "Chromium: apt install chromium, or leave out the part step"
    )


def playwright_figures(steps: int, program: str) -> dict[str, float]:
    """Time the same tap and a decoded screenshot through Playwright's own calls."""
    from playwright.sync_api import sync_playwright

    with PageServer(find_pages().folder) as server, sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=root)
        page = browser.new_page(
            viewport={"width": 160, "height": 320}, device_scale_factor=2.25, has_touch=True
        )
        page.goto(f"{server.url}/miniwob/{PAGE}.html")
        page.evaluate("core.startEpisodeReal()")

        def step() -> object:
            page.touchscreen.tap(AT.x * 160, AT.y * 320)
            with Image.open(io.BytesIO(page.screenshot())) as image:
                return np.array(image.convert("RGB"))

        times = [_timed(step) for _ in range(steps)]
        browser.close()
    return _spread("playwright_step", times)


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def _spread(name: str, times: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=20)
    return {
        f"{name}_ms_p50": round(statistics.median(times), 2),
        f"{name}_ms_p95": round(cuts[18], 2),
    }


# Memory ------------------------------------------------------------------------------------------


def memory_figures(count: int = 8) -> dict[str, float]:
    figures = {}
    for name, pages in (("mb_per_page", 1), ("mb_per_shared_page", count)):
        with ExitStack() as opened:
            devices = opened_pages(count, pages, opened)
            groups = {browser.process.pid for browser in devices[0].pool.browsers}
            figures[name] = round(_proportional(groups) / 1e6 / count, 1)
    return figures


def _proportional(groups: set[int]) -> int:
    """Return the bytes of all processes of these groups, with shared pages divided among users."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[2]) in groups:
                lines = (folder / "smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, ValueError):
            continue
    return 1024 * total


# Random actions ----------------------------------------------------------------------------------


def monkey_figures(actions: int, threads: int) -> dict[str, float]:
    """Perform random actions over all pages, with one thread per open page."""
    pages = list(find_pages().step_limits)
    with ExitStack() as opened:
        devices = opened_pages(threads, 1, opened)
        with ThreadPoolExecutor(threads) as side_by_side:
            shares = [pages[n::threads] for n in range(threads)]
            each = actions // threads
            jobs = [
                side_by_side.submit(wander, device, share, each)
                for device, share in zip(devices, shares, strict=True)
            ]
            seen = sum((job.result() for job in jobs), Counter[str]())
    untyped = sum(n for name, n in seen.items() if name.startswith("untyped"))
    figures: dict[str, float] = {"monkey_actions": seen["actions"], "untyped_errors": untyped}
    figures["monkey_DeviceTimeout"] = 0  # resets the count of an earlier run
    named = {f"monkey_{name}": n for name, n in sorted(seen.items()) if name != "actions"}
    return {**figures, **named}


def wander(device: BrowserDevice, pages: list[str], actions: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    monkey, each = MonkeyPolicy(int(device.name[-1])), -(-actions // len(pages))
    for page in cycle(pages):  # starts over, to spend the actions that a failed page left
        left = actions - seen["actions"]
        if not left:
            return seen
        seen += _visit(device, page, monkey, min(each, left))
    return seen


def _visit(device: BrowserDevice, page: str, monkey: MonkeyPolicy, actions: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    judge = MiniwobJudge(device)
    try:
        device.reset(0)
        judge.begin(find_pages().task(page, "train", 5))
        for _ in range(actions):
            seen["actions"] += 1
            try:
                device.perform(_short(monkey.act()))
            except ActionFailed:
                seen["ActionFailed"] += 1
            judge.verdict(None)
    except DistrlError as error:
        seen[type(error).__name__] += 1
        print(page, type(error).__name__, error, flush=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        seen[f"untyped_{type(error).__name__}"] += 1
        print(page, "UNTYPED", repr(error), flush=True)
    return seen


def _short(action: Action) -> Action:
    """Shorten waits and turn seven of eight long presses into taps: both take real time."""
    if isinstance(action, Wait):
        return Wait(0.05)
    rare = isinstance(action, LongPress) and int(action.x * 1000) % 8
    return Tap(action.x, action.y) if isinstance(action, LongPress) and rare else action


# Kills -------------------------------------------------------------------------------------------


def kill_figures(kills: int) -> dict[str, float]:
    """Play two episodes per kill: the first loses its browser, the second must be whole."""
    lost = whole = 0
    with ExitStack() as opened:
        [device] = opened_pages(1, 1, opened)
        for number in range(kills):
            for killed in (True, False):
                policy = Killer(device) if killed else ConstantPolicy(AT)
                task = find_pages().task(PAGE, "train", number)
                ended = run_episode(task, device, policy, MiniwobJudge(device)).ending
                lost += ended is Ending.DEVICE_LOST
                whole += ended.judged
    return {"kills": kills, "episodes_lost": lost, "episodes_whole": whole}


class Killer:
    """A policy that kills the browser before its third action."""

    def __init__(self, device: BrowserDevice) -> None:
        self._device = device
        self._policy = ConstantPolicy(AT)
        self._steps = 0

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self._steps += 1
        if self._steps == 3:
            os.killpg(self._device.page.browser.process.pid, signal.SIGKILL)
        return self._policy.decide(observations)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", default=["step", "memory", "monkey", "kill"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--actions", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
