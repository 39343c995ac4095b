"""Commands about the phone's system: properties, date, processes, log."""

from __future__ import annotations

import math
from collections.abc import Sequence

from phonesim.adb_daemon.android_names import process_of
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, lines
from phonesim.display import DOTS_PER_INCH
from phonesim.system import SystemSettings

PROPERTIES = {  # of every served phone
    "dev.bootcomplete": "1",
    "init.svc.bootanim": "stopped",
    "ro.build.characteristics": "default",
    "ro.build.type": "user",
    "ro.build.version.release": "14",
    "ro.build.version.sdk": "34",
    "ro.debuggable": "0",
    "ro.product.cpu.abi": "x86_64",
    "ro.product.cpu.abilist": "x86_64",
    "ro.secure": "1",
    "service.bootanim.exit": "1",
    "sys.boot_completed": "1",
}
MAX_PROPERTIES = 500
MAX_PROPERTY = 92  # Android's own limit


def _all(handset: Handset) -> dict[str, str]:
    profile = handset.profile
    zone = handset.phone.facts.one(SystemSettings).timezone
    dots = handset.phone.display.density * DOTS_PER_INCH
    release = f"{PROPERTIES['ro.build.version.release']}/DISTRL/1:user/release-keys"
    own = {
        "ro.build.fingerprint": f"{profile.brand}/{profile.product}/{profile.device}:{release}",
        "ro.hardware": profile.hardware,
        "ro.product.brand": profile.brand,
        "ro.product.device": profile.device,
        "ro.product.manufacturer": profile.manufacturer,
        "ro.product.model": profile.model,
        "ro.product.name": profile.product,
        "ro.serialno": handset.serial,
        "ro.sf.lcd_density": str(profile.panel.dots_per_inch if profile.panel else dots),
        "ro.distrl.draws_at_once": "1" if handset.draws_at_once else "0",
        "persist.sys.timezone": f"Europe/{zone}",
    }
    return {**PROPERTIES, **own, **handset.properties}


def getprop(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    known = _all(handset)
    if not words:
        return lines(*(f"[{key}]: [{known[key]}]" for key in sorted(known)))
    return lines(known.get(words[0], words[1] if len(words) > 1 else ""))


def setprop(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    if len(words) != 2 or words[0].startswith("ro.") or len(words[1]) >= MAX_PROPERTY:
        raise Refusal(f"Failed to set property '{' '.join(words[:1])[:80]}'")
    if len(handset.properties) >= MAX_PROPERTIES or len(words[0]) > MAX_PROPERTY:
        raise Refusal("Failed to set property: too many, or a name too long")
    handset.properties[words[0]] = words[1]
    return NOTHING


def date(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    """Print the phone's own clock, by `+%s` and common formats; it cannot be set."""
    now = handset.phone.now
    match words:
        case []:
            return lines(now.strftime("%a %b %e %H:%M:%S GMT %Y"))
        case [form] if form.startswith("+") and len(form) < 80:
            known = {"%s": str(handset.seconds), "%F": "%Y-%m-%d", "%T": "%H:%M:%S"}
            for short, whole in known.items():
                form = form.replace(short, whole)
            return lines(_formatted(handset, form[1:]))
    raise Refusal("date: cannot set date: Operation not permitted")


def _formatted(handset: Handset, form: str) -> str:
    """Expand only the letters that every C library supports, so that no format is invalid."""
    said, place = [], 0
    while place < len(form):
        pair = form[place : place + 2]
        known = len(pair) == 2 and pair[0] == "%" and pair[1] in "YmdHMSjaAbByIp"
        said.append(handset.phone.now.strftime(pair) if known else form[place])
        place += 2 if known else 1
    return "".join(said)


def pidof(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    running = {handset.package_of(app) for app in handset.phone.state.running}
    found = [str(process_of(name)) for name in words if name in running]
    return lines(" ".join(found)) if found else Result(code=1)


def ps(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    names = sorted(handset.package_of(app) for app in handset.phone.state.running)
    rows = [f"u0_a1  {process_of(name):>6}  1  0  0  0  0 S {name}" for name in names]
    return lines("USER      PID PPID VSZ RSS WCHAN ADDR S NAME", *rows)


def logcat(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    """Print the phone's own log. Without -d the command does not end, as on Android."""
    if "-c" in words or "--clear" in words:
        handset.log.clear()
        return NOTHING
    said = lines("--------- beginning of main", *handset.log)
    return Result(said.out, seconds=0.0 if "-d" in words else math.inf)


def _said(*texts: str) -> Command:
    def say(handset: Handset, words: Sequence[str], given: bytes) -> Result:
        return lines(*texts)

    return say


COMMANDS: dict[str, Command] = {
    "getprop": getprop,
    "setprop": setprop,
    "date": date,
    "pidof": pidof,
    "ps": ps,
    "logcat": logcat,
    "id": _said("uid=2000(shell) gid=2000(shell) groups=2000(shell)"),
    "whoami": _said("shell"),
    "uname": _said("Linux"),
    "pwd": _said("/"),
    "sync": _said(),
}
