"""Measure the cost and the speed of `distrl view` (`make bench-view`).

    phones, updates_per_s      256 phones that change six times a second: updates of each that the
                               server sends to one reader of its events; the median phone
    slowest_updates_per_s      the same, of the phone with fewest
    server_cpu_share           share of a core that the server needs for that
    thumbnail_ms               CPU time of a collector for one thumbnail
    training_…, browser_…      what watching costs a collector that trains: `view_slowdown`
    first_paint_s              from an address in Chromium to rows on its screen, for a run of
                               10,000 episodes that the server has not read before; the median
    list_10000_s               the same, until all 10,000 can be filtered and scrolled
    details_10000_s            the same, until also their instructions are there

Two feeder processes stand in for the collectors of the 256 phones: they publish through the real
feed, without its limit on the CPU time that a collector spends. Thumbnails are drawn in advance
from screens of real phones: 1,500 a second would be the work of some dozens of collectors, not of
this machine, and `thumbnail_ms` says what they pay.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.many_episodes import write_many_episodes
from benchmarks.results_file import make_command, write_results
from benchmarks.view_slowdown import Figures, cpu_seconds, measure_slowdown, server
from distrl.devices.browser.chromium import find_chromium
from distrl.episodes import live_feed
from distrl.episodes.live_feed import LiveFeed, thumbnail
from distrl.records import Decision, OpenApp, Screen, Tap
from distrl.replay.compressed_screen import compress
from phonesim.phone import Phone
from phonesim.tasks.task_sets import load_task

PHONES, FEEDERS, PER_SECOND = 256, 2, 6.0
EPISODES = 10_000
APPS = ("Clock", "Notes", "Maps", "Browser", "Settings", "Calendar", "Music", "Contacts")
TASK = "notes.create/train/0"


# The wall -----------------------------------------------------------------------------------------


def screens() -> list[Screen]:
    """Return one phone screen per app, packed as collectors hold them."""
    found: list[Screen] = []
    for seed, app in enumerate(APPS):
        phone = Phone(seed=seed)
        phone.perform(OpenApp(app))
        found.append(compress(Screen(phone.frame().copy())))
    return found


def _feed(run: Path, feeder: int, stop: Any) -> None:
    """Publish this feeder's share of the phones; each changes PER_SECOND times a second."""
    live_feed.SHARE = 1e9
    live_feed.PICTURE_SECONDS = 0.0
    shown = screens()
    drawn = {id(screen): thumbnail(screen) for screen in shown}
    names = [f"phone-{number}" for number in range(feeder, PHONES, FEEDERS)]
    task = load_task(TASK)[0]
    feed = LiveFeed(run, f"collector-{feeder}.1", names, draw=lambda screen, _: drawn[id(screen)])
    step, due = 0, time.perf_counter()
    while not stop.wait(max(0.0, due - time.perf_counter())):
        due += 1.0 / PER_SECOND
        for number, name in enumerate(names):
            screen = shown[(number + step) % len(shown)]
            lease: Any = SimpleNamespace(
                device=SimpleNamespace(name=name),
                assignment=SimpleNamespace(task=task),
                episode_id=f"collector-{feeder}.1/1/x",
            )
            decisions = (Decision(Tap(0.5, 0.5), "tap", (1,), (-0.1,), step),)
            observation = SimpleNamespace(screen=screen)
            episode: Any = SimpleNamespace(task=task, decisions=decisions, observation=observation)
            feed.show(lease, "deciding", episode)
        step += 1


def read_events(port: int, run: str, seconds: float) -> dict[str, int]:
    """Count the updates with a picture that arrive within `seconds`, by phone."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30.0)
    connection.request("GET", f"/live/{run}")
    answer, counts = connection.getresponse(), dict[str, int]()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        line = answer.readline()
        if line.startswith(b"data: ["):
            for phone in json.loads(line[6:]):
                if phone["picture"]:
                    name = phone["state"]["device"]
                    counts[name] = counts.get(name, 0) + 1
    connection.close()
    return counts


def measure_wall(folder: Path, seconds: float) -> Figures:
    run = write_many_episodes(folder / "wall", 10)
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    feeders = [
        context.Process(target=_feed, args=(run.path, number, stop), daemon=True)
        for number in range(FEEDERS)
    ]
    with run.held(), server(run.path) as (port, pid):
        for feeder in feeders:
            feeder.start()
        while len(read_events(port, "wall", 2.0)) < PHONES:  # until all phones are published
            assert all(feeder.is_alive() for feeder in feeders)
        before, begun = cpu_seconds(pid), time.perf_counter()
        counts = read_events(port, "wall", seconds)
        lasted = time.perf_counter() - begun
        spent = cpu_seconds(pid) - before
        stop.set()
        for feeder in feeders:
            feeder.join()
    shown = screens()
    begun = time.process_time()
    for screen in shown * 10:
        thumbnail(screen)
    each = 1000 * (time.process_time() - begun) / (10 * len(shown))
    return {
        "phones": float(len(counts)),
        "updates_per_s": statistics.median(counts.values()) / lasted if counts else 0.0,
        "slowest_updates_per_s": min(counts.values(), default=0) / lasted,
        "server_cpu_share": spent / lasted,
        "thumbnail_ms": each,
    }


# The browser --------------------------------------------------------------------------------------


def measure_first_paint(folder: Path, times: int) -> Figures:
    from playwright.sync_api import sync_playwright

    run = write_many_episodes(folder / "many", EPISODES)
    seconds: list[list[float]] = []
    waited_for = (".list a", "text=10,000 of 10,000", ".list a:has-text('number 0')")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for _ in range(times):
            with server(run.path) as (port, _):
                page = browser.new_page()
                page.goto("about:blank")
                begun = time.perf_counter()
                page.goto(f"http://127.0.0.1:{port}/#/many/episodes", wait_until="commit")
                seconds.append([])
                for selector in waited_for:
                    if selector is waited_for[-1]:
                        page.keyboard.press("End")  # the oldest episode, whose details come last
                    page.wait_for_selector(selector)
                    seconds[-1].append(time.perf_counter() - begun)
                page.close()
        browser.close()
    painted, listed, detailed = (statistics.median(column) for column in zip(*seconds, strict=True))
    return {
        "first_paint_s": painted,
        "first_paint_episodes": float(EPISODES),
        "list_10000_s": listed,
        "details_10000_s": detailed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the wall")
    parser.add_argument("--pairs", type=int, default=7, help="of the slowdown")
    parser.add_argument("--episodes", type=int, default=24, help="of each half of a pair")
    parser.add_argument("--times", type=int, default=5, help="that the page is opened")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        figures = measure_wall(folder, given.seconds)
        print(figures, flush=True)
        figures |= measure_first_paint(folder, given.times)
        print(figures, flush=True)
    figures |= measure_slowdown(given.pairs, given.episodes)
    rounded = {name: round(figure, 4) for name, figure in figures.items()}
    print(write_results("view", rounded, make_command("bench-view")))
    print(json.dumps(rounded, indent=2))


if __name__ == "__main__":
    main()
