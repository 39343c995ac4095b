"""A page that can be put back to an earlier moment, by loading it anew and repeating what was done.

A browser cannot copy a running page. Where a page does the same whenever the same is done to it
(MiniWoB's do, by their seeds), loading it again and repeating every action leads to the same page:
a snapshot is the list of what was done, and costs nothing; putting it back costs those steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from distrl.devices.browser.browser_device import BrowserDevice
from distrl.errors import ActionFailed
from distrl.records import ONLY_SAID, Action, Screen


@dataclass(frozen=True, slots=True)
class Opened:
    """A page that was loaded."""

    url: str
    home: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """JavaScript that set the page up."""

    expression: str


Done = Opened | Prepared | Action


class ReplayedBrowserDevice(BrowserDevice):
    """Implements `Forkable` as well, for pages that are the same every time."""

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
        """Load the page anew and repeat; costs device time, which is counted on."""
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
                        continue  # as it did before
