"""What the screen shows: `screencap`, `uiautomator dump`, `wm`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from phonesim.adb_daemon.android_names import package_of
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, lines
from phonesim.display import DOTS_PER_INCH
from phonesim.hierarchy_xml import uiautomator_xml

DUMP = "/sdcard/window_dump.xml"
TERMINALS = ("/dev/tty", "/dev/stdout", "/proc/self/fd/1", "-")
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def screencap(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    """PNG with -p or into a .png file, else raw pixels behind a header."""
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
    front = handset.phone.state.front
    xml = NOT_IN_XML.sub("\ufffd", uiautomator_xml(handset.elements(), package_of(front)))
    said = f"UI hierchary dumped to: {path}\n".encode("utf-8", "replace")  # Android's own spelling
    if path in TERMINALS:
        return Result(xml.encode() + said)
    handset.files.write(path, xml.encode(), handset.seconds)
    return Result(said)


def wm(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    display = handset.phone.display
    match words:
        case ["size"]:
            return lines(f"Physical size: {display.width}x{display.height}")
        case ["density"]:
            return lines(f"Physical density: {display.density * DOTS_PER_INCH}")
        case ["size" | "density", "reset"] | ["user-rotation" | "set-user-rotation", *_]:
            return NOTHING
        case ["dismiss-keyguard"]:
            handset.locked = handset.locked and not handset.awake
            return NOTHING
    raise Refusal(f"Error: wm {' '.join(words)[:80]}: this screen cannot be changed", 255)


COMMANDS: dict[str, Command] = {"screencap": screencap, "uiautomator": uiautomator, "wm": wm}
