"""`am` and `monkey`: start and stop apps, send broadcasts, list what runs."""

from __future__ import annotations

from collections.abc import Sequence

from distrl.records import Home
from phonesim.adb_daemon.android_names import (
    HOME_ACTIVITY,
    component,
    component_in_front,
    installed_packages,
    process_of,
)
from phonesim.adb_daemon.commands.broadcasts import broadcast
from phonesim.adb_daemon.commands.intent import Intent, read_intent
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, lines
from phonesim.app import Ui
from phonesim.compositor import theme_of
from phonesim.state import LAUNCHER
from phonesim.web.browsing import go_to

HOME_CATEGORY = "android.intent.category.HOME"
APP_OF_ACTION = {
    "android.intent.action.DIAL": "Phone",
    "android.intent.action.SENDTO": "Messages",
    "android.settings.SETTINGS": "Settings",
}


def am(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    match words:
        case ["start" | "start-activity", *rest]:
            return _start(handset, read_intent(rest))
        case ["force-stop" | "kill", *rest] if rest:
            app = installed_packages(handset).get(rest[-1])
            if app not in (None, LAUNCHER):
                handset.changing()
                handset.phone.stop(app)
            return NOTHING
        case ["broadcast", *rest]:
            return broadcast(handset, read_intent(rest))
        case ["stack", "list"]:
            return _stacks(handset)
        case ["get-current-user"]:
            return lines("0")
        case ["task", "lock", *_] | ["wait-for-broadcast-idle" | "set-debug-app", *_]:
            return NOTHING
    raise Refusal(f"Error: unknown command 'am {' '.join(words)[:80]}'", 255)


def _start(handset: Handset, intent: Intent) -> Result:
    said = [f"Starting: {intent}"]
    app = _app_for(handset, intent)
    if app is None:
        wanted = intent.part("component")
        why = f"Activity class {{{wanted}}} does not exist." if wanted else (
            f"Activity not started, unable to resolve {intent}"
        )  # fmt: skip
        before = ["Error type 3"] if wanted else []
        errors = lines(*before, f"Error: {why}").out
        return Result(lines(*said).out, errors, 1)
    if "-S" in intent.flags and app != LAUNCHER:
        handset.phone.stop(app)
    bring_to_front(handset, app)
    if intent.part("data").startswith(("http://", "https://")):
        _visit(handset, intent.part("data"))
    if "-W" in intent.flags:
        said += ["Status: ok", "LaunchState: COLD"]
        said += [f"Activity: {component_in_front(handset, short=True)}"]
        wait = handset.seconds_until_drawn
        said += [f"TotalTime: {1 + round(1000 * wait)}", f"WaitTime: {2 + round(1000 * wait)}"]
        return Result(lines(*said, "Complete").out, seconds=wait)
    return lines(*said)


def _app_for(handset: Handset, intent: Intent) -> str | None:
    """Return the installed app that an intent resolves to; None if there is none."""
    installed = installed_packages(handset)
    package, slash, activity = intent.part("component").partition("/")
    if slash:
        known = activity in (f".{HOME_ACTIVITY}", f"{package}.{HOME_ACTIVITY}")
        return installed.get(package) if known else None
    if intent.part("package"):
        return installed.get(intent.part("package"))
    if intent.part("category") == HOME_CATEGORY:
        return LAUNCHER
    name = APP_OF_ACTION.get(intent.part("action"))
    if intent.part("data").startswith(("http://", "https://")):
        name = "Browser"
    return name if name in installed.values() else None


def bring_to_front(handset: Handset, app: str) -> None:
    handset.note(f"START u0 {component(handset.package_of(app), HOME_ACTIVITY, short=True)}")
    if app == LAUNCHER:
        handset.perform(Home())
    else:
        handset.open_app(app)


def _visit(handset: Handset, url: str) -> None:
    phone = handset.phone
    if phone.state.front == "Browser":
        ui = Ui(phone, phone.apps["Browser"], phone.routes[-1], theme_of(phone))
        go_to(ui, 0, url[:2000])
        phone.refresh()


def _stacks(handset: Handset) -> Result:
    """List the running apps; the one in front comes first and is visible."""
    state = handset.phone.state
    bounds = f"[0,0][{state.display.width},{state.display.height}]"
    others = [app for app in state.running if app != state.front]
    rows = []
    for app in (state.front, *others):
        package = handset.package_of(app)
        task = process_of(package) % 1000
        front = app == state.front
        top = component_in_front(handset) if front else component(package, HOME_ACTIVITY)
        first = f"  taskId={task}: {component(package, HOME_ACTIVITY)} bounds={bounds} userId=0"
        visible = f"visible={'true' if front else 'false'} topActivity=ComponentInfo{{{top}}}"
        rows += [
            f"RootTask id={task} bounds={bounds} displayId=0 userId=0",
            f"{first} {visible}",
        ]
    return lines(*rows)


def monkey(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    """Launch an app by `monkey -p PACKAGE [-c CATEGORY] 1`; no random events are injected."""
    intent = read_intent([w for w in words if w not in ("1", "-v") and not w.startswith("--pct")])
    package = intent.part("package")
    app = installed_packages(handset).get(package)
    if app is None:
        raise Refusal("** No activities found to run, monkey aborted.", 252)
    bring_to_front(handset, app)
    return lines("Events injected: 1", "## Network stats: elapsed time=1ms (0ms mobile)")


COMMANDS: dict[str, Command] = {"am": am, "monkey": monkey}
