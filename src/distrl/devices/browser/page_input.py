"""Send touches and keys to a page.

Touches are touch events, as on a phone; the browser turns them into clicks, scrolling and long
presses. Timestamps on the events give the duration of a swipe, so that we do not have to wait; the
finger rests before it is lifted, so that the swipe does not become a fling. Letters are sent as key
presses where a keyboard has the key, since pages listen to keys, and as inserted text otherwise.
"""

from __future__ import annotations

import time

from distrl.devices.browser.browser_page import BrowserPage
from distrl.devices.browser.devtools import Pending
from distrl.records import LongPress, Swipe, Tap, TypeText

MOVES = 8  # touch moves in one swipe
REST_SECONDS = 0.2  # rest at the end of a swipe before the finger is lifted
LONG_PRESS_SECONDS = 0.7  # Chromium recognizes a long press after half a second
KEYS_AT_ONCE = 32  # so that a hanging browser is noticed before its pipe is full
ENTER = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}


def tap(page: BrowserPage, action: Tap) -> None:
    """Send touch start and end within one frame. A browser that draws by itself would then drop
    the click, so there we wait for the start first.

    The click follows the acknowledgement of the touches, in the queue of all input. So we also move
    the mouse pointer there, as the browser itself does after a tap: that move is acknowledged after
    the click.
    """
    down = _touch(page, "touchStart", action.x, action.y)
    if not page.browser.on_demand:
        page.finish(down)
    page.finish(down, _touch(page, "touchEnd"), eager=True)
    if page.dialog is None:
        at = _place(page, action.x, action.y)
        page.finish(
            page.session.send("Input.dispatchMouseEvent", type="mouseMoved", **at), eager=True
        )


def long_press(page: BrowserPage, action: LongPress) -> None:
    page.finish(_touch(page, "touchStart", action.x, action.y), eager=True)
    page.pause(LONG_PRESS_SECONDS)
    page.finish(_touch(page, "touchEnd"), eager=True)


def swipe(page: BrowserPage, action: Swipe) -> None:
    """Send a swipe; wait for each move, so that the page and its scrolling see every one."""
    began = time.time()
    page.finish(_touch(page, "touchStart", action.x, action.y, began), eager=True)
    for number in range(1, MOVES + 1):
        share = number / MOVES
        x = action.x + share * (action.to_x - action.x)
        y = action.y + share * (action.to_y - action.y)
        at = began + share * action.seconds
        page.finish(_touch(page, "touchMove", x, y, at), eager=True)
    page.finish(_touch(page, "touchEnd", at=began + action.seconds + REST_SECONDS), eager=True)


def type_text(page: BrowserPage, action: TypeText) -> None:
    for start in range(0, len(action.text), KEYS_AT_ONCE):
        sent = [_letter(page, each) for each in action.text[start : start + KEYS_AT_ONCE]]
        page.finish(*(each for pair in sent for each in pair))


def press_enter(page: BrowserPage) -> None:
    page.finish(*_key(page, **ENTER))


def _touch(
    page: BrowserPage,
    kind: str,
    x: float | None = None,
    y: float | None = None,
    at: float | None = None,
) -> Pending:
    """Send a touch event at a share of the screen; without coordinates, lift the finger."""
    points = [_place(page, x, y)] if x is not None and y is not None else []
    stamp = {} if at is None else {"timestamp": at}
    return page.session.send("Input.dispatchTouchEvent", type=kind, touchPoints=points, **stamp)


def _place(page: BrowserPage, x: float, y: float) -> dict[str, float]:
    """Convert a share of the screen to CSS pixels, clipped to the page."""
    width, height = page.viewport.css_size
    return {"x": min(x * width, width - 0.5), "y": min(y * height, height - 0.5)}


def _letter(page: BrowserPage, letter: str) -> tuple[Pending, ...]:
    if letter in "\r\n":
        return _key(page, **ENTER)
    if not (letter.isascii() and letter.isprintable()):
        return (page.session.send("Input.insertText", text=letter),)
    code = ord(letter.upper()) if letter.isalnum() or letter == " " else 0
    return _key(page, key=letter, text=letter, windowsVirtualKeyCode=code)


def _key(page: BrowserPage, **key: object) -> tuple[Pending, Pending]:
    up = {name: value for name, value in key.items() if name != "text"}
    return (
        page.session.send("Input.dispatchKeyEvent", type="keyDown", **key),
        page.session.send("Input.dispatchKeyEvent", type="keyUp", **up),
    )
