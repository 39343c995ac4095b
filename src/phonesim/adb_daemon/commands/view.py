"""Commands that read the screen: `screencap`, `uiautomator dump`, `wm`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, failure, lines
from phonesim.display import DOTS_PER_INCH
from phonesim.hierarchy_xml import uiautomator_xml

DUMP = "/sdcard/window_dump.xml"
NOT_IDLE = "ERROR: could not get idle state."
TERMINALS = ("/dev/tty", "/dev/stdout", "/proc/self/fd/1", "-")
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def screencap(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    """Take a screenshot: PNG with -p or into a .png file, else raw pixels after a header."""
    rest = list(words)
    while "-d" in rest:
        place = rest.index("-d")
        del rest[place : place + 2]
    paths = [word for word in rest if not word.startswith("-")]
    if len(paths) > 1 or any(word not in ("-p", *paths) for word in rest):
        raise Refusal("usage: screencap [-hp] [-d display-id] [FILENAME]")
    as_png = "-p" in rest or (paths and paths[0].endswith(".png"))
    picture = handset.png() if as_png else handset.raw()
    if not paths or paths[0] in TERMINALS:
        return Result(picture)
    handset.files.write(paths[0], picture, handset.seconds)
    return NOTHING


def uiautomator(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    match [word for word in words if not word.startswith("--")]:
        case ["dump"]:
            path = DUMP
        case ["dump", path]:
            pass
        case _:
            raise Refusal("Usage: uiautomator dump [--compressed] [file]")
    if not handset.comes_to_rest():
        return failure(NOT_IDLE, code=0)  # as Android's own program exits
    package = handset.package_of(handset.shown_app)
    xml = NOT_IN_XML.sub("\ufffd", uiautomator_xml(handset.elements(), package))
    said = f"UI hierchary dumped to: {path}\n".encode("utf-8", "replace")  # Android's own spelling
    if path in TERMINALS:
        return Result(xml.encode() + said)
    handset.files.write(path, xml.encode(), handset.seconds)
    return Result(said)


def wm(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    display, panel = handset.phone.display, handset.profile.panel
    match words:
        case ["size"]:
            physical = [f"{panel.width}x{panel.height}"] if panel else []
            return _sizes("size", [*physical, f"{display.width}x{display.height}"])
        case ["density"]:
            physical = [str(panel.dots_per_inch)] if panel else []
            return _sizes("density", [*physical, str(display.density * DOTS_PER_INCH)])
        case ["size" | "density", "reset"] | ["user-rotation" | "set-user-rotation", *_]:
            return NOTHING
        case ["dismiss-keyguard"]:
            handset.locked = handset.locked and not handset.awake
            return NOTHING
    raise Refusal(f"Error: wm {' '.join(words)[:80]}: this screen cannot be changed", 255)


def _sizes(what: str, values: Sequence[str]) -> Result:
    """Print the panel's value, and the drawn one if it differs."""
    kinds = ("Physical", "Override")
    return lines(*(f"{kind} {what}: {value}" for kind, value in zip(kinds, values, strict=False)))


COMMANDS: dict[str, Command] = {"screencap": screencap, "uiautomator": uiautomator, "wm": wm}
