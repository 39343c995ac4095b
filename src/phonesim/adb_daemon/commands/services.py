"""`cmd`, `svc` and `ime`: the system services that the shell can call, one function each.

`cmd simulation` exists on no real phone: it resets the phone to a seed, and saves or restores its
whole state, so that an episode can begin clean and a judge can compare facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from phonesim.adb_daemon.commands.package import pm
from phonesim.adb_daemon.commands.settings import change
from phonesim.adb_daemon.commands.touch import input_command
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, lines
from phonesim.snapshot import from_bytes, to_bytes

SWITCHES = {  # words of `svc` and `cmd`: the setting behind them
    "wifi": "wifi", "data": "mobile_data", "bluetooth": "bluetooth", "nfc": "nfc",
}  # fmt: skip
ON = {"enable", "enabled", "yes", "on", "true"}
OFF = {"disable", "disabled", "no", "off", "false"}


def cmd(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    if not words or words[0] not in SERVICES:
        raise Refusal(f"cmd: Can't find service: {' '.join(words[:1])[:80]}", 20)
    return SERVICES[words[0]](handset, words[1:])


def _package(handset: Handset, words: Sequence[str]) -> Result:
    return pm(handset, words, b"")


def _input(handset: Handset, words: Sequence[str]) -> Result:
    return input_command(handset, words, b"")


def _statusbar(handset: Handset, words: Sequence[str]) -> Result:
    overlays = {"expand-notifications": "shade", "expand-settings": "shade", "collapse": None}
    if len(words) != 1 or words[0] not in overlays:
        raise Refusal("cmd statusbar: expand-notifications, expand-settings or collapse", 255)
    overlay = overlays[words[0]]
    if handset.awake and not handset.locked and (overlay or handset.phone.state.overlay):
        handset.changing()
        handset.phone.show_overlay(overlay)
    return NOTHING


def _uimode(handset: Handset, words: Sequence[str]) -> Result:
    match words:
        case ["night", value] if value in ON | OFF:
            change(handset, "dark_mode", value in ON)
            return lines(f"Night mode: {'yes' if value in ON else 'no'}")
    raise Refusal("cmd uimode night [yes|no]", 255)


def _wifi(handset: Handset, words: Sequence[str]) -> Result:
    match words:
        case ["set-wifi-enabled", value] if value in ON | OFF:
            change(handset, "wifi", value in ON)
            return NOTHING
    raise Refusal("cmd wifi set-wifi-enabled enabled|disabled", 255)


def _connectivity(handset: Handset, words: Sequence[str]) -> Result:
    match words:
        case ["airplane-mode", value] if value in ON | OFF:
            change(handset, "airplane_mode", value in ON)
            return NOTHING
    raise Refusal("cmd connectivity airplane-mode enable|disable", 255)


def _bluetooth(handset: Handset, words: Sequence[str]) -> Result:
    match words:
        case [value] if value in ON | OFF:
            change(handset, "bluetooth", value in ON)
            return NOTHING
    raise Refusal("cmd bluetooth_manager enable|disable", 255)


def _simulation(handset: Handset, words: Sequence[str]) -> Result:
    match words:
        case ["reset", seed] if re.fullmatch(r"[0-9]{1,15}", seed):
            handset.reset(int(seed))
            return lines(f"Success: seed {seed}")
        case ["snapshot"]:
            return Result(to_bytes(handset.phone.snapshot()))
        case ["snapshot", path]:
            data = to_bytes(handset.phone.snapshot())
            handset.files.write(path, data, handset.seconds)
            return NOTHING
        case ["restore", path]:
            handset.restore(from_bytes(handset.files.read(path)))
            return lines("Success")
    raise Refusal("cmd simulation reset SEED | snapshot [FILE] | restore FILE", 255)


SERVICES: dict[str, Callable[[Handset, Sequence[str]], Result]] = {
    "package": _package,
    "input": _input,
    "statusbar": _statusbar,
    "uimode": _uimode,
    "wifi": _wifi,
    "connectivity": _connectivity,
    "bluetooth_manager": _bluetooth,
    "simulation": _simulation,
}


def svc(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    match words:
        case [kind, value] if kind in SWITCHES and value in ON | OFF:
            change(handset, SWITCHES[kind], value in ON)
            return NOTHING
        case ["power", "stayon", value]:
            change(handset, "stay_awake", value not in OFF)
            return NOTHING
    raise Refusal(f"svc: {' '.join(words)[:80]}: no such service or value")


def ime(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    match words:
        case ["list", *_]:
            return lines(*handset.input_methods)
        case ["enable" | "set" as verb, name]:
            if name not in handset.input_methods:
                raise Refusal(f"Error: Unknown id: {name[:80]}")
            if verb == "set":
                handset.input_method = name
            return lines(
                f"Input method {name} " + {"enable": "now enabled", "set": "selected"}[verb]
            )
        case ["disable" | "reset", *_]:
            handset.input_method = handset.input_methods[0]
            return NOTHING
    raise Refusal("ime: list, enable ID, set ID, disable ID or reset")


COMMANDS: dict[str, Command] = {"cmd": cmd, "svc": svc, "ime": ime}
