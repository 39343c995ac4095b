"""A page of a headless Chromium as a `Device`: a phone that shows one web app.

`reset` opens an empty page with its own cookies and storage; a judge then loads the page of its
task (`open`) and queries it (`evaluate`). Failures are typed: the renderer crashes (`AppCrashed`),
the browser ends (`BrowserStopped`), the page hangs (`DeviceTimeout`) or does not load
(`PageTimeout`, `PageUnreachable`). A download, or a page outside the allowed origins, is refused
and raises `ActionFailed`: the page is unchanged. Dialogs are drawn and answered by `page_dialog`.

Home reloads the task's page where the task allows it; there are no apps to open.
"""

from __future__ import annotations

from typing import Self

from distrl.devices.browser import page_input
from distrl.devices.browser.accessibility import read_page
from distrl.devices.browser.browser_page import STEP_SECONDS, BrowserPage, Dialog
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.devices.browser.page_dialog import DialogBox
from distrl.devices.operating_state import OperatingState
from distrl.errors import ActionFailed
from distrl.hierarchy import Element
from distrl.records import (
    ONLY_SAID,
    Action,
    Back,
    DoubleTap,
    DragAndDrop,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Pixels,
    Screen,
    Swipe,
    Tap,
    TypeText,
    Wait,
)

LONGEST_TEXT = 2000  # characters typed at once


class BrowserDevice:
    """Implements `Device`. It owns its page; the pool owns the browser."""

    blocking = True

    def __init__(self, name: str, pool: BrowserPool, site: str = "") -> None:
        self.name = name
        self.pool = pool
        self.viewport = pool.viewport
        self.site = site  # url that serves the task set's pages; empty: each task has its own url
        self._state = OperatingState(name)
        self._page: BrowserPage | None = None
        self._home = ""  # the url that Home loads; empty: Home fails

    # The whole device --------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Open an empty page that shares no state with the previous one. `seed` has no effect: only
        the judge uses the seed of a task.
        """
        self._home = ""
        self._give_back()
        self._state.begin_reset()
        with self._state.at_work():
            self._page = self.pool.page(self.name)
            self._state.ready = True

    def close(self) -> None:
        self._give_back()
        self._state.close()

    @property
    def seconds(self) -> float:
        return self._state.seconds

    def _give_back(self) -> None:
        page, self._page = self._page, None
        if page is not None:
            self.pool.release(page, broken=self._state.failure is not None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def page(self) -> BrowserPage:
        """The page; raises if the device was not reset or has failed since."""
        self._state.check()
        assert self._page is not None
        return self._page

    # For judges --------------------------------------------------------------------------------

    def open(self, url: str, *, home: bool = True) -> None:
        """Load a page; with `home`, the Home action loads it again."""
        page = self.page
        with self._state.at_work():
            page.load(url)
        self._home = url if home else ""

    def prepare(self, expression: str) -> object:
        """Set up the page by JavaScript before the agent acts; return the expression's value."""
        return self.evaluate(expression)

    def evaluate(self, expression: str, seconds: float = STEP_SECONDS) -> object:
        """Return the value of a JavaScript expression; None while a dialog blocks the page."""
        page = self.page
        with self._state.at_work():
            return page.evaluate(expression, seconds)

    @property
    def dialog(self) -> Dialog | None:
        return self.page.dialog

    # Seeing ------------------------------------------------------------------------------------

    def screen(self) -> Screen:
        page = self.page
        with self._state.at_work():
            return self._screen(page)

    def _screen(self, page: BrowserPage) -> Screen:
        pixels = self._pixels(page)
        return Screen(pixels.copy() if page.dialog is None else self._box(page.dialog).over(pixels))

    def _pixels(self, page: BrowserPage) -> Pixels:
        return page.picture()

    def elements(self) -> tuple[Element, ...]:
        page = self.page
        with self._state.at_work():
            found = read_page(page) if page.dialog is None else ()
        return found if page.dialog is None else self._box(page.dialog).elements()

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> Screen:
        page = self.page
        with self._state.at_work():
            if not isinstance(action, ONLY_SAID):
                page.refused.clear()
                if page.dialog is None:
                    self._act(page, action)
                else:
                    self._answer(page, page.dialog, action)
            screen = self._screen(page)
            if page.refused and page.dialog is None:
                raise ActionFailed(f"device {self.name}: refused: {page.refused[0]}")
            return screen

    def _act(self, page: BrowserPage, action: Action) -> None:
        match action:
            case Tap():
                page_input.tap(page, action)
            case LongPress():
                page_input.long_press(page, action)
            case Swipe():
                page_input.swipe(page, action)
            case TypeText(text):
                if len(text) > LONGEST_TEXT:
                    raise ActionFailed(
                        f"device {self.name}: {len(text)} characters at once; type at most "
                        f"{LONGEST_TEXT}"
                    )
                page_input.type_text(page, action)
            case Enter():
                page_input.press_enter(page)
            case Back():
                if not page.go_back():
                    raise ActionFailed(f"device {self.name}: there is no page to go back to")
            case Home():
                if not self._home:
                    raise ActionFailed(f"device {self.name}: this page has no home")
                page.load(self._home)
            case OpenApp(name):
                raise ActionFailed(f"device {self.name}: a page has no apps, nor one {name[:40]!r}")
            case Wait(seconds):
                page.pause(seconds)
            case DoubleTap(x, y):
                page_input.tap(page, Tap(x, y))
                page_input.tap(page, Tap(x, y))
            case DragAndDrop(x, y, to_x, to_y):
                page_input.swipe(page, Swipe(x, y, to_x, to_y, seconds=1.0))
            case _:
                raise ActionFailed(f"device {self.name}: a page has no {type(action).__name__}")

    def _answer(self, page: BrowserPage, dialog: Dialog, action: Action) -> None:
        box = self._box(dialog)
        answer = box.answer(action)
        if answer is None:
            page.dialog = box.typed(action)
        else:
            page.answer(accept=answer == "accept", text=dialog.text)

    def _box(self, dialog: Dialog) -> DialogBox:
        return DialogBox(dialog, self.viewport.width, self.viewport.height)
