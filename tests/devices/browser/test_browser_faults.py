"""What can go wrong with a browser is typed, and costs one episode at most."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.devices.browser.pages import BUTTON, FIELD, write_page

from distrl.devices.browser import browser_page
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.errors import AppCrashed, BrowserStopped, DeviceTimeout

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def works(device: BrowserDevice, site: str) -> bool:
    device.reset(0)
    device.open(f"{site}/plain.html")
    return device.perform(FIELD).width == 360


def test_a_page_that_hangs_is_a_timeout(
    device: BrowserDevice, folder: Path, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_page(folder, "endless", "while (true) {}")
    device.reset(0)
    device.open(f"{site}/endless.html")
    device.screen()
    monkeypatch.setattr(browser_page, "STEP_SECONDS", 0.5)
    with pytest.raises(DeviceTimeout, match="hangs"):
        device.page.until(lambda: False, "nothing", 0.2)
    monkeypatch.undo()
    device.page.session.send("Runtime.evaluate", expression="while (true) {}")
    with pytest.raises(DeviceTimeout):
        device.page.until(lambda: False, "an endless script", 1.0)
    assert works(device, site)


def test_a_renderer_that_crashes_is_an_app_crash(device: BrowserDevice, site: str) -> None:
    assert works(device, site)
    device.page.session.send("Page.crash")
    with pytest.raises(AppCrashed):
        device.perform(BUTTON)
    with pytest.raises(AppCrashed, match="not reset since"):
        device.screen()
    assert works(device, site)


def test_a_killed_browser_is_gone_until_the_reset(
    device: BrowserDevice, pool: BrowserPool, site: str
) -> None:
    assert works(device, site)
    os.killpg(device.page.browser.process.pid, signal.SIGKILL)
    with pytest.raises(BrowserStopped):
        device.perform(BUTTON)
    assert works(device, site)
    assert all(browser.running for browser in pool.browsers)


def test_pages_of_one_browser_know_nothing_of_each_other(pool: BrowserPool, site: str) -> None:
    with BrowserDevice("one", pool) as one, BrowserDevice("two", pool) as two:
        for device in (one, two):
            device.reset(0)
            device.open(f"{site}/plain.html")
        one.evaluate("localStorage.setItem('a', '1')")
        assert two.evaluate("localStorage.length") == 0
        assert len(pool.browsers) == (2 if pool.settings.pages == 1 else 1)


OWNER = """
import sys, time
from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.devices.browser.browser_settings import BrowserSettings
pool = BrowserPool(BrowserSettings(), AllowedOrigins.of([]))
page = pool.page("page")
print(page.browser.process.pid, flush=True)
time.sleep(60)
"""


def test_no_browser_outlives_a_killed_owner(chromium: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    group = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    owner.stdout.close()
    until = time.monotonic() + 20
    while members(group) and time.monotonic() < until:
        time.sleep(0.05)
    assert not members(group)


def members(group: int) -> list[str]:
    """Processes of a group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgid = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgid) == group and state != "Z":
            found.append(path.parent.name)
    return found
