"""Take the pictures of `distrl view` for docs/pictures: each page at 1280 and at 390 pixels.

    python -m benchmarks.view_pictures runs/RUN               # curves, health, episodes, …
    python -m benchmarks.view_pictures runs/RUN --pages wall  # while it trains
    python -m benchmarks.view_pictures runs --pages runs      # a folder of several
    python -m benchmarks.view_pictures out --pages arena      # kept episodes of two agents

Look at them before they are committed: would you show them to a stranger?
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.view import server
from distrl.view.run_catalogue import RunCatalogue

SIZES = {1280: 800, 390: 844}  # width and height
SETTLE_MS = {"wall": 6000, "weights": 4000}  # until phones have shown something; others: 800
PAGES = ("curves", "health", "episodes", "xray", "weights")
STEP = 3  # of the episode that is shown
ASK = "Compare"  # the button that has two weights asked about a step


def address(page: str, runs: list[str]) -> str:
    """Where the page shows that; the first episode stands for all."""
    run = runs[-1]
    if page in ("xray", "weights"):
        return f"#/{run}/episode/1/{STEP}"
    return f"#/{run}/arena/{runs[0]}/1/1/{STEP}" if page == "arena" else f"#/{run}/{page}"


def take(page: Page, name: str, out: Path, width: int) -> None:
    if name == "weights":
        page.get_by_role("button", name=ASK).click()
    page.wait_for_timeout(SETTLE_MS.get(name, 800))
    if name == "weights":
        page.get_by_text("What changed its mind").first.scroll_into_view_if_needed()
    path = out / f"view-{name}-{width}.png"
    page.screenshot(path=str(path))
    print(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="a run, or a folder of runs")
    parser.add_argument("--pages", nargs="+", default=list(PAGES))
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    given = parser.parse_args()
    runs = list(RunCatalogue.at(given.path).runs())
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with server(given.path) as (port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width, height in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            for name in given.pages:
                page.goto("about:blank")
                page.goto(f"http://127.0.0.1:{port}/{address(name, runs)}")
                page.wait_for_selector("h1")
                take(page, name, given.out, width)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
