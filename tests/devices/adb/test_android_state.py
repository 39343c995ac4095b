"""Android has said the same thing in many ways; all of them are understood."""

from __future__ import annotations

import pytest
from tests.devices.adb.scripted_adb_server import Script, scripted_server, shell_answer

from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.android_state import (
    Focus,
    focus,
    is_awake,
    is_emulated,
    is_locked,
    read_focus,
    rotation,
    screen_size,
)

TO_PHONE: Script = {"host:transport:": b"OKAY"}
SHADE = """mCurrentFocus=Window{f u0 NotificationShade}
mFocusedApp=AppWindowToken{9 token=Token{8 ActivityRecord{7 u0 com.a/.M t1}}}"""
HANGING = """mCurrentFocus=Window{f u0 Application Not Responding: com.slow.app}
mFocusedApp=ActivityRecord{9 u0 com.slow.app/.Main t12}"""


@pytest.mark.parametrize(
    ("dump", "found"),
    [
        (
            "  mCurrentFocus=Window{1a2b u0 com.android.settings/com.android.settings.Settings}\n",
            Focus(
                "com.android.settings/com.android.settings.Settings",
                "com.android.settings",
                "com.android.settings.Settings",
            ),
        ),
        (
            "  mCurrentFocus=null\n  mFocusedApp=ActivityRecord{9 u0 com.a.b/.Main t12}\n",
            Focus("com.a.b", "com.a.b", ".Main", starting=True),
        ),
        (
            "  mFocusedApp=ActivityRecord{9 u0 com.a.b/.Main t12}\n",
            Focus("com.a.b", "com.a.b", ".Main"),
        ),
        (
            (
                "mCurrentFocus=Window{f u0 NotificationShade}\n"
                "mFocusedApp=AppWindowToken{9 token=Token{8 ActivityRecord{7 u0 com.a/.M t1}}}"
            ),
            Focus("NotificationShade", "com.a", ".M"),
        ),
        (
            "mCurrentFocus=Window{f u0 Application Error: com.bad.app}",
            Focus(
                "Application Error: com.bad.app",
                "Application Error: com.bad.app",
                "",
                "com.bad.app",
            ),
        ),
        (
            (
                "mCurrentFocus=Window{f u0 Application Not Responding: com.slow.app}\n"
                "mFocusedApp=ActivityRecord{9 u0 com.slow.app/.Main t12}\n"
            ),
            Focus(
                "Application Not Responding: com.slow.app", "com.slow.app", ".Main", "com.slow.app"
            ),
        ),
        ("mCurrentFocus=null\nmFocusedApp=null\n", None),
        ("", None),
    ],
)
def test_the_focus(dump: str, found: Focus | None) -> None:
    assert read_focus(dump) == found


def asked(command: str, answer: str) -> Script:
    return TO_PHONE | {
        f"shell,v2,raw:{command}": shell_answer(answer.encode()),
        "shell,v2,raw:dumpsys": shell_answer(b"nothing of use"),
    }


def test_older_phones_tell_the_focus_only_in_the_long_dump() -> None:
    script = TO_PHONE | {
        "shell,v2,raw:dumpsys window displays": shell_answer(b"none here"),
        "shell,v2,raw:dumpsys window": shell_answer(b"mCurrentFocus=Window{1 u0 a.b/a.b.C}"),
    }
    with scripted_server(script) as server:
        found = focus(AdbShell(server.link("phone"), keep_open=False))
    assert found is not None
    assert found.package == "a.b"


@pytest.mark.parametrize(
    ("said", "awake"), [("  mWakefulness=Awake", True), ("mWakefulness=Dozing", False), ("", None)]
)
def test_awake_or_not(said: str, awake: bool | None) -> None:
    with scripted_server(asked("dumpsys power", said)) as server:
        assert is_awake(AdbShell(server.link("phone"), keep_open=False)) is awake


@pytest.mark.parametrize(
    ("said", "locked"),
    [
        ("KeyguardServiceDelegate\n  showing=true\n", True),
        ("    mShowingLockscreen=true mScreenOn", True),
        ("KeyguardServiceDelegate\n  showing=false\n notshowing=true", False),
        ("", False),
    ],
)
def test_locked_or_not(said: str, locked: bool) -> None:
    with scripted_server(asked("dumpsys window policy", said)) as server:
        assert is_locked(AdbShell(server.link("phone"), keep_open=False)) is locked


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("Physical size: 1080x2400\n", (1080, 2400)),
        ("Physical size: 1080x2400\nOverride size: 720x1600\n", (720, 1600)),
        ("wm: not found", None),
    ],
)
def test_the_size(said: str, size: tuple[int, int] | None) -> None:
    with scripted_server(asked("wm size", said)) as server:
        assert screen_size(AdbShell(server.link("phone"), keep_open=False)) == size


@pytest.mark.parametrize(
    ("said", "degrees"),
    [
        ("mCurrentRotation=ROTATION_90", 90),
        ("mRotation=3", 270),
        ("mRotation=ROTATION_0", 0),
        ("", None),
    ],
)
def test_the_rotation(said: str, degrees: int | None) -> None:
    with scripted_server(asked("dumpsys window displays", said)) as server:
        assert rotation(AdbShell(server.link("phone"), keep_open=False)) == degrees


def test_whatever_does_not_say_that_it_is_emulated_is_a_handset() -> None:
    assert is_emulated({"ro.kernel.qemu": "1"})
    assert is_emulated({"ro.boot.qemu": "1"})
    assert is_emulated({"ro.hardware": "ranchu"})
    assert not is_emulated({"ro.hardware": "qcom", "ro.kernel.qemu": "0"})
    assert not is_emulated({})
