"""Android's key codes by name and number, and their effects on the simulated phone."""

from __future__ import annotations

import string

from distrl.records import Back, Enter, Home, OpenShade, Recents, VolumeDown, VolumeUp
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import Refusal
from phonesim.system import change_volume

NUMBERS: dict[str, int] = {
    "HOME": 3, "BACK": 4, "CALL": 5, "ENDCALL": 6, "STAR": 17, "POUND": 18, "DPAD_UP": 19,
    "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22, "DPAD_CENTER": 23, "VOLUME_UP": 24,
    "VOLUME_DOWN": 25, "POWER": 26, "CAMERA": 27, "CLEAR": 28, "COMMA": 55, "PERIOD": 56,
    "ALT_LEFT": 57, "ALT_RIGHT": 58, "SHIFT_LEFT": 59, "SHIFT_RIGHT": 60, "TAB": 61, "SPACE": 62,
    "ENTER": 66, "DEL": 67, "GRAVE": 68, "MINUS": 69, "EQUALS": 70, "LEFT_BRACKET": 71,
    "RIGHT_BRACKET": 72, "BACKSLASH": 73, "SEMICOLON": 74, "APOSTROPHE": 75, "SLASH": 76, "AT": 77,
    "PLUS": 81, "MENU": 82, "NOTIFICATION": 83, "SEARCH": 84, "MEDIA_PLAY_PAUSE": 85,
    "PAGE_UP": 92, "PAGE_DOWN": 93, "ESCAPE": 111, "FORWARD_DEL": 112, "CTRL_LEFT": 113,
    "CTRL_RIGHT": 114, "MOVE_HOME": 122, "MOVE_END": 123, "NUMPAD_ENTER": 160, "VOLUME_MUTE": 164,
    "APP_SWITCH": 187, "BRIGHTNESS_DOWN": 220, "BRIGHTNESS_UP": 221, "SLEEP": 223, "WAKEUP": 224,
    "CUT": 277, "COPY": 278, "PASTE": 279,
    **{digit: 7 + number for number, digit in enumerate(string.digits)},
    **{letter: 29 + number for number, letter in enumerate(string.ascii_uppercase)},
}  # fmt: skip
LETTERS: dict[int, str] = {
    17: "*", 18: "#", 55: ",", 56: ".", 62: " ", 68: "`", 69: "-", 70: "=", 71: "[", 72: "]",
    73: "\\", 74: ";", 75: "'", 76: "/", 77: "@", 81: "+",
    **{7 + number: digit for number, digit in enumerate(string.digits)},
    **{29 + number: letter for number, letter in enumerate(string.ascii_lowercase)},
}  # fmt: skip
KNOWN = frozenset(NUMBERS.values())
CONTROL = {113, 114}


def number_of(name: str) -> int:
    """Return the code of a key: 66, ENTER and KEYCODE_ENTER are the same."""
    bare = name.upper().removeprefix("KEYCODE_")
    if bare.isascii() and bare.isdigit() and len(bare) <= 3 and int(bare) > 0 and name == bare:
        number = int(bare)  # a digit alone is a number, not the key with that digit on it
        if number <= 320:
            return number
    elif bare in NUMBERS:
        return NUMBERS[bare]
    raise Refusal(f"Error: Unknown keycode: {name[:40]}", 255)


def press(handset: Handset, number: int) -> None:
    """Press and release a key. Keys without a function do nothing, as on a real phone."""
    if number in (26, 223, 224):
        _power(handset, {26: not handset.awake, 223: False, 224: True}[number])
    elif not handset.awake:
        return
    elif number == 82:
        handset.locked = False
    elif number in LETTERS:
        handset.type_text(LETTERS[number])
    else:
        _act(handset, number)


def _power(handset: Handset, awake: bool) -> None:
    """Wake the phone up or put it to sleep, which locks it."""
    handset.locked = handset.locked or not awake
    handset.awake = awake


def _act(handset: Handset, number: int) -> None:
    match number:
        case 3:
            handset.perform(Home())
        case 4 | 111:
            handset.perform(Back())
        case 66 | 160 | 23:
            handset.perform(Enter())
        case 67:
            handset.erase()
        case 83 | 187 if not handset.locked:
            handset.perform(OpenShade() if number == 83 else Recents())
        case 24 | 25:
            handset.perform(VolumeUp() if number == 24 else VolumeDown())
        case 164:
            change_volume(handset.phone.facts, -1.0)
            handset.phone.refresh()
        case 277 | 278 | 279:
            _clipboard(handset, number)


def _clipboard(handset: Handset, number: int) -> None:
    if number == 279:
        handset.type_text(handset.clipboard)
        return
    if handset.text:
        handset.clipboard = handset.text
        if number == 277:
            handset.clear_text()


def press_together(handset: Handset, numbers: list[int]) -> None:
    """Press Ctrl with A, C, V or X; of other combinations, press the last key."""
    last = numbers[-1]
    if CONTROL & set(numbers[:-1]):
        match LETTERS.get(last):
            case "a":
                handset.all_selected = handset.phone.state.focus is not None
            case "c":
                press(handset, 278)
            case "v":
                press(handset, 279)
            case "x":
                press(handset, 277)
        return
    press(handset, last)
