"""A page that can be restored to an earlier step by reloading it and replaying all actions.

A browser cannot copy a running page. But if a page is deterministic (MiniWoB's pages are, given
their seeds), reloading it and replaying every action leads to the same state. So a snapshot is the
list of actions and costs nothing; restoring it costs the time of those steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from distrl.devices.browser.browser_device import BrowserDevice
from distrl.errors import ActionFailed
from distrl.records import ONLY_SAID, Action, Screen


@dataclass(frozen=True, slots=True)
class Opened:
    """A recorded call of `open`."""

    url: str
    home: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A recorded call of `prepare`: JavaScript that set up the page."""

    expression: str


Done = Opened | Prepared | Action


class ReplayedBrowserDevice(BrowserDevice):
    """Also implements `Forkable`, for deterministic pages."""

    _done: tuple[Done, ...] = ()

    def reset(self, seed: int) -> None:
        super().reset(seed)
        self._done = ()

    def open(self, url: str, *, home: bool = True) -> None:
        super().open(url, home=home)
        self._done += (Opened(url, home),)

    def prepare(self, expression: str) -> object:
        value = super().prepare(expression)
        self._done += (Prepared(expression),)
        return value

    def perform(self, action: Action) -> Screen:
        try:
            return super().perform(action)
        finally:
            if not isinstance(action, ONLY_SAID):
                self._done += (action,)

    def snapshot(self) -> tuple[Done, ...]:
        _ = self.page  # raises if the device is out of order
        return self._done

    def restore(self, state: tuple[Done, ...]) -> None:
        """Reload the page and replay the actions; the time is added to `seconds`."""
        spent = self.seconds
        self.reset(0)
        self._state.seconds += spent
        for each in state:
            match each:
                case Opened(url, home):
                    self.open(url, home=home)
                case Prepared(expression):
                    self.prepare(expression)
                case _:
                    try:
                        self.perform(each)
                    except ActionFailed:
                        continue  # it failed the first time too
