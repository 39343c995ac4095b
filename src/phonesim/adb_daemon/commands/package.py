"""`pm`, and `cmd package`: the installed apps, their paths and their permissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phonesim.adb_daemon.android_names import (
    ADB_KEYBOARD,
    CLIPPER,
    HOME_ACTIVITY,
    SYSTEM_PACKAGES,
    component,
    installed_packages,
)
from phonesim.adb_daemon.commands.intent import read_intent
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, failure, lines
from phonesim.boot import new_state
from phonesim.facts import Facts
from phonesim.state import LAUNCHER
from phonesim.system import InstalledApp

PERMISSIONS = {  # of Android: field of InstalledApp
    "android.permission.CAMERA": "camera",
    "android.permission.RECORD_AUDIO": "microphone",
    "android.permission.READ_CONTACTS": "contacts",
    "android.permission.ACCESS_FINE_LOCATION": "location",
    "android.permission.POST_NOTIFICATIONS": "notifications",
}
FEATURES = ("android.hardware.touchscreen", "android.hardware.wifi", "android.software.webview")


def pm(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    match words:
        case ["list", what, *rest]:
            return _list(handset, what, rest)
        case ["path", package] | ["path", "--user", _, package]:
            if package not in _packages(handset):
                return Result(code=1)
            return lines(f"package:{path_of(package)}")
        case ["clear", *rest] if rest:
            return _clear(handset, rest[-1])
        case ["grant" | "revoke" as verb, *rest] if len(rest) >= 2:
            return _permit(handset, rest[-2], rest[-1], verb == "grant")
        case ["uninstall", *rest] if rest:
            return _uninstall(handset, rest[-1])
        case ["install" | "install-create", *_]:
            return failure("Failure [INSTALL_FAILED_INVALID_APK: this phone runs no APK]")
        case ["resolve-activity", *rest]:
            return _resolve(handset, rest)
        case ["query-activities", *rest]:
            return _query(handset, rest)
    raise Refusal(f"Error: unknown command 'pm {' '.join(words)[:80]}'", 255)


def _packages(handset: Handset) -> list[str]:
    own = installed_packages(handset)
    keyboard = handset.profile.keyboard.split("/")[0]
    return sorted([*own, *SYSTEM_PACKAGES, keyboard, *_added(handset)])


def _added(handset: Handset) -> list[str]:
    """Return the packages that the owner has installed for use over adb."""
    keyboard = [ADB_KEYBOARD.split("/")[0]] if handset.adb_keyboard else []
    return [*keyboard, CLIPPER] if handset.clipper else keyboard


def path_of(package: str) -> str:
    return f"/system/app/{package}/base.apk"


def _list(handset: Handset, what: str, rest: Sequence[str]) -> Result:
    if what == "features":
        return lines(*(f"feature:{name}" for name in FEATURES))
    if what == "libraries":
        return lines("library:android.test.base")
    if what == "users":
        return lines("Users:", "\tUserInfo{0:Owner:c13} running")
    if what != "packages":
        raise Refusal(f"Error: unknown list type '{what[:40]}'", 255)
    wanted = [word for word in rest if not word.startswith("-") and not word.isdigit()]
    chosen = [name for name in _packages(handset) if all(part in name for part in wanted)]
    if "-3" in rest:
        chosen = [name for name in chosen if _removable(handset, name)]
    if "-s" in rest:
        chosen = [name for name in chosen if not _removable(handset, name)]
    if "-d" in rest:
        chosen = []
    return lines(*(f"package:{path_of(n)}={n}" if "-f" in rest else f"package:{n}" for n in chosen))


def _removable(handset: Handset, package: str) -> bool:
    if package in _added(handset):
        return True
    name = installed_packages(handset).get(package, LAUNCHER)
    return name != LAUNCHER and handset.phone.apps[name].removable


def _clear(handset: Handset, package: str) -> Result:
    """Reset an app to its state on the new phone: its initial facts, and no open pages."""
    name = installed_packages(handset).get(package)
    if name is None:
        return Result(b"Failed\n", code=1)
    if name == LAUNCHER:
        return lines("Success")
    phone = handset.phone
    handset.changing()
    phone.stop(name)
    state = phone.snapshot()
    fresh = new_state(state.seed, state.drift).facts
    kinds = phone.apps[name].kinds
    tables = {kind: {record.id: record for record in all_} for kind, all_ in state.facts.tables()}
    for kind in kinds:
        tables[kind] = {record.id: record for record in fresh.all(kind)}
    phone.restore(replace(state, facts=Facts(tables, state.facts.next_id)))
    return lines("Success")


def _permit(handset: Handset, package: str, permission: str, granted: bool) -> Result:
    name = installed_packages(handset).get(package)
    app = handset.phone.facts.find(InstalledApp, lambda a: a.name == name)
    if app is None:
        raise Refusal(f"Exception: Unknown package: {package[:80]}", 255)
    if permission in PERMISSIONS:
        handset.phone.facts.edit(app, **{PERMISSIONS[permission]: granted})
        handset.phone.refresh()
    return NOTHING


def _uninstall(handset: Handset, package: str) -> Result:
    name = installed_packages(handset).get(package)
    if name is None or not _removable(handset, package):  # only removable apps
        return failure("Failure [DELETE_FAILED_INTERNAL_ERROR]")
    handset.phone.stop(name)
    handset.phone.facts.remove_where(InstalledApp, lambda app: app.name == name)
    handset.phone.refresh()
    return lines("Success")


def _resolve(handset: Handset, words: Sequence[str]) -> Result:
    """Print the activity that a launcher would start for a package."""
    intent = read_intent([word for word in words if word != "--brief"])
    package = intent.part("package") or intent.part("component").partition("/")[0]
    if intent.part("category") == "android.intent.category.HOME":
        package = handset.package_of(LAUNCHER)
    if package not in installed_packages(handset):
        return lines("No activity found")
    short = component(package, HOME_ACTIVITY, short=True)
    if "--brief" in words:
        return lines("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1", short)
    return lines(
        "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true",
        "ActivityInfo:",
        f"  name={package}.{HOME_ACTIVITY}",
        f"  packageName={package}",
    )


def _query(handset: Handset, words: Sequence[str]) -> Result:
    """List every activity that a launcher shows; other intents find nothing here."""
    intent = read_intent([word for word in words if word != "--brief"])
    wanted = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
    if (intent.part("action"), intent.part("category")) != wanted:
        return lines("No activities found")
    names = [name for name in installed_packages(handset) if name != handset.package_of(LAUNCHER)]
    rows = [f"{len(names)} activities found:"]
    for place, name in enumerate(sorted(names)):
        rows += [f"  Activity #{place}:", "    priority=0 preferredOrder=0 match=0x108000"]
        rows += [f"    {component(name, HOME_ACTIVITY, short=True)}"]
    return lines(*rows)


COMMANDS: dict[str, Command] = {"pm": pm}
