"""MobileGym's phone as a `Device`: a web page with a launcher, apps and a keyboard.

Taps, gestures and keys go to the page as to any other page. Back, Home, Recents, the shade and
opening an app by name call the page's JavaScript APIs, `__OS__` and `__SIM__`. Transitions take
real time, so a screen is taken once the picture is still. The device needs a browser that draws on
its own frame clock (`BrowserPool(on_demand=False)`): one that draws on demand hangs when a list in
the settings is scrolled (Chromium 156). MobileGym has no seeds, and uses the machine's clock.

A snapshot is MobileGym's JSON state, with the running apps and the page that each one shows.
`restore` writes that state, reloads the page and opens those apps again. State that the JSON lacks
(changed files, notifications, half-typed text, scroll positions) is detected by comparing JSON and
picture afterwards: `CommandRefused` says what differs. One loss is not detected: the navigation
history of an app, so that Back leads to the app's first page.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distrl.devices.adb.stillness import StillnessSettings, differs, settled_picture
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.browser_page import BrowserPage
from distrl.errors import ActionFailed, CommandRefused, PageTimeout
from distrl.records import (
    Action,
    Back,
    DragAndDrop,
    Home,
    OpenApp,
    OpenShade,
    Pixels,
    Recents,
)

READY = "Boolean(window.__SIM__ && window.__SIM_FS__ && window.__OS__?.openApp)"
READY_SECONDS = 60.0  # for the page to load its apps, on a machine that starts many pages
LOOK_SECONDS = 0.02
STILL = StillnessSettings(reaction_seconds=0.2, quiet_seconds=0.15, max_seconds=2.0)
STATUS_BAR = 0.05  # share of the screen's height, not compared: its clock and battery change
OTHER_SHARE = 0.005  # share of pixels that may differ: pictures are scaled slightly differently
KEYS: dict[type[Action], str] = {
    Back: "void __OS__.handleBack()",
    Home: "void __OS__.goHome()",
    Recents: "void __OS__.showRecents()",
    OpenShade: "void __OS__.shade.open('notifications')",
}
SNAPSHOT = Path(__file__).with_name("mobilegym_snapshot.js")
PASSING = ("os.time", "os.services")  # not compared: the clock, and values derived from the rest


@dataclass(frozen=True, slots=True)
class MobileGymSnapshot:
    """MobileGym's state with its running apps, and the picture at that time."""

    saved: str  # JSON, as mobilegym_snapshot.js made it
    picture: Pixels


class MobileGymDevice(BrowserDevice):
    """Implements `Device` and `Forkable`; `site` is the url that serves MobileGym."""

    _shown: Pixels | None = None  # the last still picture

    # The whole device --------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Open a page with empty storage and load MobileGym in it."""
        super().reset(seed)
        self.start()

    def start(self) -> None:
        """Load MobileGym's page and wait until its apps can be opened."""
        self._shown = None
        self.open(f"{self.site}/", home=False)
        self.wait_until(READY, READY_SECONDS)

    def wait_until(self, expression: str, seconds: float) -> None:
        """Wait until a JavaScript expression is true."""
        page, deadline = self.page, time.monotonic() + seconds
        with self._state.at_work():
            while page.evaluate(expression) is not True:
                if time.monotonic() > deadline:
                    raise PageTimeout(
                        f"device {self.name}: {expression[:80]!r} is not true after {seconds:g} s; "
                        f"is MobileGym served at {self.site}?"
                    )
                page.pause(LOOK_SECONDS)

    # Seeing and acting -------------------------------------------------------------------------

    def _pixels(self, page: BrowserPage) -> Pixels:
        self._shown = settled_picture(page.picture, self._shown, STILL, sleep=page.pause)
        return self._shown

    def _act(self, page: BrowserPage, action: Action) -> None:
        if (key := KEYS.get(type(action))) is not None:
            page.evaluate(key)
            return
        match action:
            case OpenApp(name):
                page.evaluate(f"void __OS__.openApp({json.dumps(self._app_id(page, name))})")
            case DragAndDrop(x, y, to_x, to_y):
                width, height = page.viewport.css_size
                held, dropped = [x * width, y * height], [to_x * width, to_y * height]
                page.evaluate(f"__SIM_INPUT__.drag({held}, {dropped}).then(() => null)")
            case _:
                super()._act(page, action)

    def _app_id(self, page: BrowserPage, name: str) -> str:
        """Return the id of the app with this name (in the phone's language) or this id."""
        apps = page.evaluate("__SIM__.getState().os.installedApps.map((app) => [app.id, app.name])")
        assert isinstance(apps, list)
        for app_id, shown in apps:
            if name.casefold() in (app_id.casefold(), shown.casefold()):
                return str(app_id)
        raise ActionFailed(
            f"device {self.name}: no app {name[:40]!r}; there are "
            f"{', '.join(app_id for app_id, _ in apps)}"
        )

    # Forking -----------------------------------------------------------------------------------

    def snapshot(self) -> MobileGymSnapshot:
        page = self.page
        with self._state.at_work():
            picture = self._pixels(page) if self._shown is None else self._shown
            return MobileGymSnapshot(self._saved(page), picture)

    def restore(self, state: MobileGymSnapshot) -> None:
        """Write the state, reload, reopen the apps that ran, and check that nothing differs."""
        page = self.page
        with self._state.at_work():
            self._call(page, "write", state.saved)
        self.start()
        with self._state.at_work():
            self._call(page, "write", state.saved)
            self._call(page, "reopen", state.saved)
            picture, below = self._pixels(page), round(STATUS_BAR * page.viewport.height)
            other = differing(json.loads(state.saved), json.loads(self._saved(page)))
            if not other and differs(state.picture[below:], picture[below:], OTHER_SHARE):
                other = "what the screen shows"
            if other:
                raise CommandRefused(
                    f"device {self.name}: MobileGym's JSON did not bring back {other}; reset it"
                )

    def _saved(self, page: BrowserPage) -> str:
        return str(self._call(page, "save", ""))

    def _call(self, page: BrowserPage, function: str, given: str) -> object:
        """Call a function of mobilegym_snapshot.js."""
        return page.evaluate(f"({SNAPSHOT.read_text('utf-8')}).{function}({given})", READY_SECONDS)


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the first part in which two saved states differ; empty if they are equal."""
    if one["running"] != other["running"]:
        return "the apps that run"
    for area in ("apps", "os"):
        before, after = one["state"][area], other["state"][area]
        for part in sorted(before.keys() | after.keys()):
            name = f"{area}.{part}"
            if name not in PASSING and before.get(part) != after.get(part):
                return name
    return ""
