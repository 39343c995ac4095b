"""`dumpsys`: the state of Android's services, as far as tools read it.

The lines are those that clients look for (focus, rotation, keyboard, wakefulness, versions), in the
format of Android 14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from phonesim.adb_daemon.android_names import (
    component_in_front,
    installed_packages,
    process_of,
    token_of,
    window_in_front,
)
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import Command, Refusal, Result, lines
from phonesim.display import DOTS_PER_INCH
from phonesim.state import LAUNCHER
from phonesim.system import InstalledApp, Notification, SystemSettings


def dumpsys(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    rest = list(words)
    while rest and rest[0] in ("-t", "-T", "--priority"):
        del rest[:2]
    if rest == ["-l"]:
        return lines("Currently running services:", *(f"  {name}" for name in sorted(SERVICES)))
    if not rest or rest[0] not in SERVICES:
        raise Refusal(f"Can't find service: {' '.join(rest[:1])[:80]}")
    return lines(*SERVICES[rest[0]](handset, rest[1:]))


def _flag(value: object) -> str:
    return "true" if value else "false"


def _record(handset: Handset) -> str:
    """Return the activity in front in the format of Android's `ActivityRecord`."""
    name = component_in_front(handset, short=True)
    task = process_of(handset.package_of(handset.phone.state.front)) % 1000
    return f"ActivityRecord{{{token_of(name)} u0 {name} t{task}}}"


def _window(handset: Handset, words: list[str]) -> list[str]:
    focus = window_in_front(handset)
    window = f"Window{{{token_of(focus)} u0 {focus}}}" if focus else "null"
    return [
        "WINDOW MANAGER WINDOWS (dumpsys window windows)",
        f"  mCurrentFocus={window}",
        f"  mFocusedApp={_record(handset)}",
        f"  mInputMethodWindow=Window{{{token_of('ime')} u0 InputMethod}}",
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)",
        "  Display: mDisplayId=0",
        f"    {_sizes(handset)}",
        "    mDisplayRotation: mRotation=ROTATION_0 mCurrentRotation=ROTATION_0",
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
        f"    mAwake={_flag(handset.awake)}",
        f"    screenState={'SCREEN_STATE_ON' if handset.awake else 'SCREEN_STATE_OFF'}",
        f"    mShowingLockscreen={_flag(handset.locked)} mDreamingLockscreen=false",
        f"    isKeyguardShowing={_flag(handset.locked)}",
        "    KeyguardServiceDelegate",
        f"      showing={_flag(handset.locked)}",
    ]


def _sizes(handset: Handset) -> str:
    """Return the display sizes; `base` is included if the screen is not drawn at panel size."""
    display, panel = handset.phone.display, handset.profile.panel
    size = f"{display.width}x{display.height}"
    drawn = f"{size} {display.density * DOTS_PER_INCH}dpi"
    first = (
        f"{panel.width}x{panel.height} {panel.dots_per_inch}dpi base={drawn}" if panel else drawn
    )
    return f"init={first} cur={size} app={size} rng={size}-{size}"


def _activity(handset: Handset, words: list[str]) -> list[str]:
    record = _record(handset)
    package = handset.package_of(handset.phone.state.front)
    if words and words[0] == "top":
        name = component_in_front(handset, short=True)
        return [
            f"TASK {package} id={process_of(package) % 1000} userId=0",
            f"  ACTIVITY {name} {token_of(name)} pid={process_of(package)}",
        ]
    return [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)",
        "Display #0 (activities from top to bottom):",
        f"    topResumedActivity={record}",
        f"    mResumedActivity: {record}",
        f"    mLastPausedActivity: {record}",
        f"  ResumedActivity: {record}",
        *(
            f"  * Recent #{place}: Task{{{token_of(app)} A={handset.package_of(app)}}}"
            for place, app in enumerate(handset.phone.state.recent)
        ),
    ]


def _input_method(handset: Handset, words: list[str]) -> list[str]:
    shown = handset.phone.state.focus is not None and handset.awake and not handset.locked
    return [
        "Current Input Method Manager state:",
        f"  mCurMethodId={handset.input_method}",
        f"  mShowRequested={_flag(shown)} mInputShown={_flag(shown)}",
        f"  mIsInputViewShown={_flag(shown)}",
        *(f"  mId={name}" for name in handset.input_methods),
    ]


def _battery(handset: Handset, words: list[str]) -> list[str]:
    return [
        "Current Battery Service state:",
        "  AC powered: false",
        "  USB powered: true",
        "  Wireless powered: false",
        "  Max charging current: 0",
        "  Max charging voltage: 0",
        "  Charge counter: 0",
        "  status: 2",
        "  health: 2",
        "  present: true",
        f"  level: {handset.phone.facts.one(SystemSettings).battery_percent}",
        "  scale: 100",
        "  voltage: 4200",
        "  temperature: 250",
        "  technology: Li-ion",
    ]


def _display(handset: Handset, words: list[str]) -> list[str]:
    display = handset.phone.display
    sizes = f"deviceWidth={display.width}, deviceHeight={display.height}"
    return [
        "DISPLAY MANAGER (dumpsys display)",
        f"  mScreenState={'ON' if handset.awake else 'OFF'}",
        "  mCurrentOrientation=0",
        f"  mViewports=[DisplayViewport{{type=INTERNAL, displayId=0, orientation=0, {sizes}}}]",
    ]


def _input(handset: Handset, words: list[str]) -> list[str]:
    display = handset.phone.display
    return [
        "INPUT MANAGER (dumpsys input)",
        "  Viewport INTERNAL: displayId=0, orientation=0",
        f"      PhysicalWidth: {display.width}px",
        f"      PhysicalHeight: {display.height}px",
        "      SurfaceOrientation: 0",
        "      InputDeviceOrientation: 0",
    ]


def _power(handset: Handset, words: list[str]) -> list[str]:
    return [
        "POWER MANAGER (dumpsys power)",
        f"  mWakefulness={'Awake' if handset.awake else 'Asleep'}",
        f"  mHoldingDisplaySuspendBlocker={_flag(handset.awake)}",
        f"  Display Power: state={'ON' if handset.awake else 'OFF'}",
    ]


def _package(handset: Handset, words: list[str]) -> list[str]:
    name = installed_packages(handset).get(words[0]) if words else None
    if name is None:
        return [f"Unable to find package: {' '.join(words[:1])[:80]}"]
    app = handset.phone.facts.find(InstalledApp, lambda a: a.name == name)
    version = app.version if app else 1
    removable = name != LAUNCHER and handset.phone.apps[name].removable
    return [
        "Packages:",
        f"  Package [{words[0]}] ({token_of(words[0])}):",
        f"    userId={10000 + process_of(words[0]) % 1000}",
        f"    versionCode={version} minSdk=24 targetSdk=34",
        f"    versionName={version}.0",
        f"    pkgFlags=[ {'' if removable else 'SYSTEM '}HAS_CODE ]",
        "    firstInstallTime=2026-01-01 00:00:00",
        "    lastUpdateTime=2026-01-01 00:00:00",
    ]


def _notification(handset: Handset, words: list[str]) -> list[str]:
    rows = ["Current Notification Manager state:", "  Notification List:"]
    for note in handset.phone.facts.all(Notification):
        named = f"{token_of(str(note.id))}: pkg={handset.package_of(note.app)} id={note.id}"
        rows += [
            f"    NotificationRecord({named})",
            f"      android.title=String ({note.title})",
            f"      android.text=String ({note.text})",
        ]
    return rows


def _surfaces(handset: Handset, words: list[str]) -> list[str]:
    return ['Display 0 (HWC display 0): port=0 pnpId=DRL displayName="simulated"']


SERVICES: dict[str, Callable[[Handset, list[str]], list[str]]] = {
    "window": _window,
    "activity": _activity,
    "input_method": _input_method,
    "battery": _battery,
    "display": _display,
    "input": _input,
    "power": _power,
    "package": _package,
    "notification": _notification,
    "SurfaceFlinger": _surfaces,
}
COMMANDS: dict[str, Command] = {"dumpsys": dumpsys}
