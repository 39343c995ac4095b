"""Take the pictures of `distrl view` for docs/pictures: each page at 1280 and at 390 pixels.

    python -m benchmarks.view_pictures runs                  # all pages, of the newest run there
    python -m benchmarks.view_pictures runs --pages wall     # while one trains
    python -m benchmarks.view_pictures runs --dark           # view-PAGE-WIDTH-dark.png
    python -m benchmarks.view_pictures out --pages arena     # kept episodes of two agents
    python -m benchmarks.view_pictures runs --pages xray weights --episode 312 --step 4

The wall needs a run that trains, runs and arena need two runs; pages that are left out are named.
By default, the episode is the newest success of 4 to 12 steps that the learner has drawn, and the
step the one with the lowest confidence of the policy. Look at the pictures before they are
committed: would you show them to a stranger?
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.view_slowdown import server
from distrl.devices.browser.chromium import find_chromium
from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue, run_state
from distrl.view.xray import EpisodeFiles

SIZES = {1280: 800, 390: 844}  # width and height
PAGES = ("wall", "episodes", "xray", "weights", "curves", "health", "runs", "arena")
OF_TWO = {"runs", "arena"}
WALL_MS, SETTLE_MS, ASK_MS = 8000, 1200, 300_000  # for the wall, other pages, two answers
STEPS = range(4, 13)  # length of an episode for a picture
LOOKED_AT = 200  # newest episodes that are searched for one


@dataclass(frozen=True, slots=True)
class Shown:
    """The runs, episode and step that the pictures show."""

    run: str
    other: str  # empty if there is only one run
    training: str  # the run that trains now, or empty
    episode: int  # 0 if none has ended yet
    step: int

    def address(self, page: str) -> str:
        if page in ("xray", "weights"):
            return f"#/{self.run}/episode/{self.episode}/{self.step}"
        if page == "arena":
            return f"#/{self.run}/arena/{self.other}"  # it selects a task that tells them apart
        return f"#/{self.training if page == 'wall' else self.run}/{page}"

    def lacks(self, page: str) -> str:
        """Return why a page has no picture, or an empty string."""
        if page == "wall" and not self.training:
            return "no run trains now"
        if page in ("xray", "weights") and not self.episode:
            return "no episode has ended yet"
        return "there is one run alone" if page in OF_TWO and not self.other else ""


def choose(path: Path, run: str, episode: int | None, step: int | None) -> Shown:
    catalogue = RunCatalogue.at(path)
    runs, now = catalogue.runs(), time.time()
    training = [name for name, each in runs.items() if run_state(each, now) == "running"]
    finished = [name for name in runs if name not in training]
    run = run or (finished or training)[0]  # the newest
    resources = Resources(catalogue)
    files = resources.run(run).files
    episode = episode or telling_episode(resources, run)
    if step is None:
        step = least_sure_step(files, episode) if episode else 0
    others = [name for name in finished if name != run]
    return Shown(run, others[0] if others else "", training[0] if training else "", episode, step)


def telling_episode(resources: Resources, run: str) -> int:
    """Return the newest drawn success of 4 to 12 steps, else the newest episode, else 0."""
    columns, files = resources.run(run).index.episodes(), resources.run(run).files
    rows = list(zip(columns["seq"], columns["ending"], columns["steps"], strict=True))[::-1]
    for seq, ending, steps in rows[:LOOKED_AT]:
        if ending == "success" and steps in STEPS and files.xray(seq)["drawn"]:
            return int(seq)
    return int(rows[0][0]) if rows else 0


def least_sure_step(files: EpisodeFiles, episode: int) -> int:
    sure = [each["confidence"] for each in files.xray(episode)["steps"]]
    known = [at for at, each in enumerate(sure) if each is not None]
    return min(known, key=lambda at: sure[at], default=0)


def take(page: Page, name: str, path: Path) -> None:
    page.wait_for_selector("h1")
    if name == "wall":
        page.wait_for_selector(".live img[src^=data]")
        page.wait_for_timeout(WALL_MS)
    if name == "weights":
        page.get_by_role("button", name="Compare").click()
        page.wait_for_selector("text=/^(Both|They) would answer/", timeout=ASK_MS)
        page.evaluate("document.querySelector('.opinions').scrollIntoView({ block: 'center' })")
    if name == "arena":
        for _ in range(3):
            page.keyboard.press("ArrowRight")
    page.wait_for_timeout(SETTLE_MS)
    page.screenshot(path=str(path))
    print(path, flush=True)


def pages_of(browser: Browser, *, dark: bool) -> Iterator[tuple[int, Page]]:
    for width, height in SIZES.items():
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        yield width, page
        page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="a run, or a folder of runs")
    parser.add_argument("--pages", nargs="+", choices=PAGES, default=list(PAGES))
    parser.add_argument("--run", default="", help="by name; the newest that does not train")
    parser.add_argument("--episode", type=int, help="of x-ray and weights")
    parser.add_argument("--step", type=int, help="of it, from 0")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    given = parser.parse_args()
    shown = choose(given.path, given.run, given.episode, given.step)
    print(shown)
    for name in given.pages:
        if why := shown.lacks(name):
            print(f"no picture of {name}: {why}")
    with server(given.path) as (port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for width, page in pages_of(browser, dark=given.dark):
            for name in given.pages:
                if not shown.lacks(name):
                    page.goto("about:blank")
                    page.goto(f"http://127.0.0.1:{port}/{shown.address(name)}")
                    theme = "-dark" if given.dark else ""
                    take(page, name, given.out / f"view-{name}-{width}{theme}.png")
        browser.close()


if __name__ == "__main__":
    main()
