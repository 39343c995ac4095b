"""Runs for all tests that only look at them, and a browser to look with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.view.made_up_run import write_run
from tests.view.served_pages import served

from distrl.devices.browser.chromium import find_chromium
from distrl.errors import NotInstalled
from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs that differ in their seed."""
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder, "small", seed=0)
    write_run(folder, "other", seed=1)
    return folder


@pytest.fixture
def resources(runs: Path) -> Resources:
    return Resources(RunCatalogue.at(runs))


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
