"""The pool of browsers of one collector; each device gets its page from one of them.

A new page opens in the first browser that has fewer than `pages` pages, or in a new browser. A
browser that has exited or hangs is killed with all of its pages and replaced: devices that had a
page there get an error from it.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_page import BrowserPage
from distrl.devices.browser.browser_settings import BrowserSettings, Viewport
from distrl.devices.browser.chromium import Chromium, draws_on_demand, find_chromium
from distrl.errors import DeviceError

HEALTH_SECONDS = 2.0  # a healthy browser answers within this time


class BrowserPool:
    """A pool of browsers, as a context manager that ends them. Any thread may request a page."""

    def __init__(
        self,
        settings: BrowserSettings,
        allowed: AllowedOrigins,
        viewport: Viewport | None = None,
        *,
        on_demand: bool = True,  # draw frames only on request, if the browser can
    ) -> None:
        self.settings = settings
        self.allowed = allowed
        self.viewport = viewport or settings.viewport
        self.program: Path = find_chromium()
        self.on_demand = on_demand and settings.pages == 1 and draws_on_demand(self.program)
        self._lock = threading.Lock()
        self._browsers: list[Chromium] = []

    def page(self, name: str) -> BrowserPage:
        """Open a page in a browser that has room, or in a new browser."""
        browser = self._with_room()
        try:
            return BrowserPage.new(name, browser, self.viewport, self.allowed)
        except DeviceError:
            self._give_up(browser)
            raise

    def release(self, page: BrowserPage, *, broken: bool) -> None:
        """Close a page; kill its browser if that fails or, with `broken`, if it does not answer."""
        try:
            if broken:
                page.browser.call("Browser.getVersion", HEALTH_SECONDS)
            page.close()
        except DeviceError:
            self._give_up(page.browser)
            return
        with self._lock:
            page.browser.pages -= 1

    @property
    def browsers(self) -> tuple[Chromium, ...]:
        with self._lock:
            return tuple(self._browsers)

    def close(self) -> None:
        with self._lock:
            browsers, self._browsers = self._browsers, []
        for browser in browsers:
            browser.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _with_room(self) -> Chromium:
        with self._lock:
            for browser in [each for each in self._browsers if not each.running]:
                self._browsers.remove(browser)
                browser.kill()
            for browser in self._browsers:
                if browser.pages < self.settings.pages:
                    browser.pages += 1
                    return browser
            started = Chromium.start(
                self.program, self.allowed, self.viewport.scale, on_demand=self.on_demand
            )
            started.pages = 1
            self._browsers.append(started)
            return started

    def _give_up(self, browser: Chromium) -> None:
        with self._lock:
            if browser in self._browsers:
                self._browsers.remove(browser)
        browser.kill()
