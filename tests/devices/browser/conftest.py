"""A folder of pages on loopback, and a device with a browser of its own to show them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.devices.browser.pages import write_page

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.devices.browser.browser_settings import BrowserSettings
from distrl.devices.browser.chromium import find_chromium
from distrl.errors import NotInstalled
from distrl.task_sets.page_server import PageServer


@pytest.fixture(scope="session")
def chromium() -> Path:
    try:
        return find_chromium()
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_page(folder, "plain")
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with PageServer(folder) as server:
        yield server.url


@pytest.fixture(scope="module", params=[1, 2], ids=["on demand", "shared"])
def pool(chromium: Path, site: str, request: pytest.FixtureRequest) -> Iterator[BrowserPool]:
    settings = BrowserSettings(pages=request.param)
    with BrowserPool(settings, AllowedOrigins.of([site])) as pool:
        yield pool


@pytest.fixture
def device(pool: BrowserPool) -> Iterator[BrowserDevice]:
    with BrowserDevice("page", pool) as device:
        yield device
