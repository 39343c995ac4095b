"""Gestures and keys beyond tap, hold and swipe: double tap, drag and drop, pinch; volume, power.

Few pages handle these gestures. Elsewhere a double tap is two taps, drag and drop is a slow drag,
and a pinch does nothing, as on a real phone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distrl.records import Action, OpenShade, Power, Recents, VolumeDown, VolumeUp
from phonesim.scene import Drag
from phonesim.system import VOLUME_STEP, change_volume

if TYPE_CHECKING:
    from phonesim.phone import Phone

CARRY_SECONDS = 1.0  # so slow that it is no fling


def double_tap(phone: Phone, x: int, y: int) -> None:
    """Double tap an element that handles it; tap any other twice."""
    for touch in phone.scene.touch_at(x, y):
        if touch.on_tap or touch.on_tap_at:
            break
        if touch.on_double_tap:
            phone.run(touch.on_double_tap)
            return
    phone.tap(x, y)
    phone.tap(x, y)


def drop(phone: Phone, x: int, y: int, to_x: int, to_y: int) -> None:
    """Drag and drop an element that handles it; elsewhere drag slowly."""
    drag = Drag(x, y, to_x, to_y, CARRY_SECONDS)
    if not any(touch.on_drop and touch.on_drop(drag) for touch in phone.scene.touch_at(x, y)):
        phone.drag(drag)


def pinch(phone: Phone, x: int, y: int, scale: float) -> None:
    for touch in phone.scene.touch_at(x, y):
        if touch.on_pinch:
            touch.on_pinch(scale)
            return


def press_key(phone: Phone, action: Action) -> None:
    """Press a hardware key (volume, power), or open the recent apps or the shade."""
    match action:
        case Recents():
            phone.show_overlay("recents")
        case OpenShade() if not phone.state.popup:
            phone.show_overlay("shade")
        case VolumeUp() | VolumeDown():
            step = VOLUME_STEP if isinstance(action, VolumeUp) else -VOLUME_STEP
            phone.say(f"Media volume {round(100 * change_volume(phone.facts, step))}%")
        case Power():
            phone.update(asleep=True, overlay=None, focus=None)
