"""Android's commands on the simulated phone: each does what its counterpart does, or says no."""

from __future__ import annotations

import base64
import io
import math
import struct
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from tests.phonesim.adb_daemon.shells import run

from distrl.records import LongPress, OpenApp, Swipe, Tap, TypeText
from phonesim.adb_daemon.handset import Handset
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.snapshot import from_bytes, to_bytes
from phonesim.system import InstalledApp, SystemSettings

KEYBOARD = "com.android.adbkeyboard/.AdbIME"


@pytest.fixture
def handset() -> Handset:
    return Handset("phone", seed=5)


def in_a_note(handset: Handset) -> Handset:
    """A phone with the cursor in the text of a new note."""
    finger = Finger(handset.phone)
    finger.open("Notes")
    finger.tap("New note")
    finger.tap("Text", "field")
    return handset


def settings_of(handset: Handset) -> SystemSettings:
    return handset.phone.facts.one(SystemSettings)


# Touch and keys ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("input tap 180 500", Tap(180.5 / 360, 500.5 / 720)),
        ("input touchscreen tap 180.9 500", Tap(180.5 / 360, 500.5 / 720)),
        (
            "input swipe 180 600 180 200 800",
            Swipe(180.5 / 360, 600.5 / 720, 180.5 / 360, 200.5 / 720, seconds=0.8),
        ),
        ("input swipe 180 500 182 503 600", LongPress(180.5 / 360, 500.5 / 720)),
        ("input swipe 180 500 180 500 100", Tap(180.5 / 360, 500.5 / 720)),
        ("am start -n com.distrl.notes/.HomeActivity", OpenApp("Notes")),
        ("monkey -p com.distrl.notes -c android.intent.category.LAUNCHER 1", OpenApp("Notes")),
    ],
)
def test_a_command_is_the_same_as_its_action(
    handset: Handset, line: str, action: Tap | Swipe | LongPress | OpenApp
) -> None:
    direct = Phone(5)
    direct.perform(OpenApp("Settings"))
    handset.phone.perform(OpenApp("Settings"))
    direct.perform(action)
    assert run(handset, line).code == 0
    assert to_bytes(handset.phone.snapshot()) == to_bytes(direct.snapshot())
    assert np.array_equal(handset.frame(), direct.frame())


def test_the_pixel_that_was_named_is_met(handset: Handset, monkeypatch: pytest.MonkeyPatch) -> None:
    taps: list[Tap] = []
    monkeypatch.setattr(handset.phone, "perform", taps.append)
    pixels = [(x, y) for x in range(0, 360, 7) for y in (0, 1, 355, 718, 719)]
    for x, y in [*pixels, (359, 719)]:
        run(handset, f"input tap {x} {y}")
    assert [(int(tap.x * 360), int(tap.y * 720)) for tap in taps] == [*pixels, (359, 719)]


def test_what_lies_beside_the_screen_is_dropped(handset: Handset) -> None:
    before = handset.phone.state.actions
    for line in ("input tap 360 5", "input tap -1 5", "input swipe 0 720 5 5"):
        assert run(handset, line).code == 0
    assert handset.phone.state.actions == before
    for line in ("input tap nan 5", "input tap 1", "input", "input fly 1 2", "input tap 1 1e400"):
        assert run(handset, line).code == 255, line


def test_typing_and_its_keys(handset: Handset) -> None:
    in_a_note(handset)
    run(handset, "input text 'Hello%sthere'")
    run(handset, "input keyevent 62 KEYCODE_A b 8")
    assert handset.text == "Hello there ab1"
    run(handset, "input keyevent DEL 67")
    assert handset.text == "Hello there a"
    run(handset, "input keycombination 113 29; input keyevent CUT; input keyevent PASTE PASTE")
    assert handset.text == "Hello there a" * 2
    run(handset, "input keycombination CTRL_LEFT A; input text new")
    assert handset.text == "new"
    assert run(handset, "input keyevent 9999").code == 255
    assert run(handset, "input keyevent KEYCODE_NOTHING").code == 255


def test_plain_text_is_ascii_as_on_android(handset: Handset) -> None:
    in_a_note(handset)
    said = run(handset, "input text Grüße")
    assert said.code == 255
    assert "NullPointerException" in said.error
    assert handset.text == ""


def test_unicode_through_the_keyboard_app(handset: Handset) -> None:
    in_a_note(handset)
    text = "Grüße, 日本 😀; $(id) 'x'"
    coded = base64.b64encode(text.encode()).decode()
    line = f"am broadcast -a ADB_INPUT_B64 --es msg {coded}"
    assert "result=0" in run(handset, line).text
    assert handset.text == "", "it is not the input method yet"
    assert run(handset, f"ime enable {KEYBOARD}; ime set {KEYBOARD}").code == 0
    run(handset, line)
    assert handset.text == text
    run(handset, "am broadcast -a ADB_CLEAR_TEXT")
    run(handset, "am broadcast -a ADB_INPUT_TEXT --es msg 'naïve café'")
    run(handset, "am broadcast -a ADB_INPUT_CHARS --eia chars 33,128512,55296")
    assert handset.text == "naïve café!😀"
    run(handset, "am broadcast -a ADB_INPUT_B64 --es msg '***'")
    assert handset.text == "naïve café!😀"


def test_a_phone_without_the_apps_for_unicode() -> None:
    plain = Handset("plain", seed=5, adb_keyboard=False, clipper=False)
    assert "adbkeyboard" not in run(plain, "ime list -s; pm list packages").text
    assert run(plain, f"ime set {KEYBOARD}").code == 1
    assert "result=0" in run(plain, "am broadcast -a clipper.set -e text x").text
    assert "ca.zgrs.clipper" not in run(plain, "pm list packages").text


def test_the_clipboard(handset: Handset) -> None:
    in_a_note(handset)
    assert "result=-1" in run(handset, "am broadcast -a clipper.set -e text 'Übung 7'").text
    run(handset, "input keyevent 279")
    assert handset.text == "Übung 7"
    assert 'data="Übung 7"' in run(handset, "am broadcast -a clipper.get").text


def test_sleep_wake_and_unlock(handset: Handset) -> None:
    home = handset.frame()
    run(handset, "input keyevent POWER; input tap 100 400; input text x")
    assert not handset.frame().any()
    assert handset.phone.state.actions == 0, "a sleeping phone was operated"
    assert "mWakefulness=Asleep" in run(handset, "dumpsys power").text
    run(handset, "input keyevent 224")
    assert "showing=true" in run(handset, "dumpsys window policy").text
    assert handset.elements() == ()
    run(handset, "input tap 100 400")
    assert "showing=true" in run(handset, "dumpsys window policy").text, "a tap unlocked it"
    run(handset, "input swipe 180 600 180 100")
    assert "showing=false" in run(handset, "dumpsys window policy").text
    assert np.array_equal(handset.frame(), home)
    run(handset, "input keyevent SLEEP WAKEUP; wm dismiss-keyguard")
    assert "mShowingLockscreen=false" in run(handset, "dumpsys window").text


# Apps --------------------------------------------------------------------------------------------


def test_starting_and_stopping(handset: Handset) -> None:
    said = run(handset, "am start -W -n com.distrl.todo/com.distrl.todo.HomeActivity")
    assert "Status: ok" in said.text
    assert handset.phone.state.front == "To-do"
    run(handset, "am force-stop com.distrl.todo")
    assert "To-do" not in handset.phone.state.running
    run(handset, "am start -a android.intent.action.VIEW -d https://harbourpost.example/")
    assert handset.phone.state.front == "Browser"
    assert handset.phone.routes[-1].page == "site"
    run(handset, "am start -a android.intent.action.MAIN -c android.intent.category.HOME")
    assert handset.phone.state.front == "Launcher"
    for line in (
        "am start -n com.distrl.notes/.Nothing",
        "am start -n com.nothing/.HomeActivity",
        "am start -a android.intent.action.NOTHING",
        "monkey -p com.nothing 1",
        "am explode",
        "am start -n",
    ):
        failed = run(handset, line)
        assert failed.code != 0, line
        assert failed.error, line
    assert handset.phone.state.front == "Launcher"


def test_what_is_in_front(handset: Handset) -> None:
    handset.open_app("Notes")
    name = "com.distrl.notes/com.distrl.notes.HomeActivity"
    focus = run(handset, "dumpsys window windows | grep mCurrentFocus").text
    assert name in focus
    assert "com.distrl.notes/.HomeActivity" in run(handset, "dumpsys activity activities").text
    assert "ACTIVITY com.distrl.notes/.HomeActivity" in run(handset, "dumpsys activity top").text
    visible = run(handset, "am stack list | grep -E visible=true").text
    assert f"topActivity=ComponentInfo{{{name}}}" in visible
    run(handset, "cmd statusbar expand-notifications")
    assert "NotificationShade" in run(handset, "dumpsys window | grep mCurrentFocus").text
    run(handset, "cmd statusbar collapse")
    handset.phone.crash()
    assert "Application Error: com.distrl.notes" in run(handset, "dumpsys window").text


def test_the_keyboard_is_shown_while_a_field_has_the_focus(handset: Handset) -> None:
    assert "mInputShown=false" in run(handset, "dumpsys input_method").text
    in_a_note(handset)
    assert "mInputShown=true" in run(handset, "dumpsys input_method").text


def test_packages(handset: Handset) -> None:
    listed = run(handset, "pm list packages").text.split()
    assert {"package:com.distrl.notes", "package:com.distrl.launcher"} <= set(listed)
    assert run(handset, "pm list packages todo").text == "package:com.distrl.todo\n"
    assert run(handset, "pm path com.distrl.notes").text.startswith("package:/")
    assert run(handset, "pm path com.nothing").code == 1
    resolved = run(handset, "cmd package resolve-activity --brief com.distrl.notes").text
    assert resolved.splitlines()[-1] == "com.distrl.notes/.HomeActivity"
    query = "cmd package query-activities --brief -a android.intent.action.MAIN "
    found = run(handset, query + "-c android.intent.category.LAUNCHER").text
    assert "    com.distrl.notes/.HomeActivity\n" in found
    assert "launcher" not in found
    assert "versionCode=" in run(handset, "dumpsys package com.distrl.notes").text
    run(handset, "pm grant com.distrl.notes android.permission.CAMERA")
    notes = handset.phone.facts.find(InstalledApp, lambda app: app.name == "Notes")
    assert notes is not None
    assert notes.camera
    assert run(handset, "pm install /sdcard/x.apk").code == 1


def test_clearing_an_app_puts_back_what_it_came_with(handset: Handset) -> None:
    in_a_note(handset)
    handset.type_text("to be gone")
    Finger(handset.phone).tap("Save")
    run(handset, "settings put global bluetooth_on 1")
    kinds = handset.phone.apps["Notes"].kinds
    fresh = Phone(5).facts
    assert any(handset.phone.facts.all(kind) != fresh.all(kind) for kind in kinds)
    assert run(handset, "pm clear com.distrl.notes").text == "Success\n"
    assert all(handset.phone.facts.all(kind) == fresh.all(kind) for kind in kinds)
    assert settings_of(handset).bluetooth, "what belongs to others was cleared too"
    assert run(handset, "pm clear com.nothing").code == 1


# The screen --------------------------------------------------------------------------------------


def test_pictures_are_exact(handset: Handset) -> None:
    frame = handset.phone.frame()
    png = run(handset, "screencap -p").out
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png))), frame)
    raw = run(handset, "screencap").out
    assert struct.unpack_from("<3I", raw) == (360, 720, 1)
    rgba = np.frombuffer(raw, np.uint8, offset=16).reshape(720, 360, 4)
    assert np.array_equal(rgba[..., :3], frame)
    assert (rgba[..., 3] == 255).all()
    run(handset, "screencap -p /sdcard/shot.png")
    assert handset.files.read("/sdcard/shot.png") == png
    handset.open_app("Notes")
    assert run(handset, "screencap -p").out != png, "an old picture"


def test_a_moving_picture_comes_to_rest() -> None:
    now = 100.0
    handset = Handset("moving", seed=5, transition=0.5, clock=lambda: now)
    before = handset.frame()
    handset.open_app("Notes")
    assert np.array_equal(handset.frame(), before)
    now = 100.25
    half = handset.frame()
    assert np.array_equal(half[:360], before[:360])
    assert np.array_equal(half[360:], handset.phone.frame()[:360])
    now = 100.5
    assert np.array_equal(handset.frame(), handset.phone.frame())


def test_the_hierarchy(handset: Handset) -> None:
    in_a_note(handset)
    handset.type_text("a <b> & \"c\" \x01 'd'")
    said = run(handset, "uiautomator dump")
    assert "dumped to: /sdcard/window_dump.xml" in said.text
    root = ET.fromstring(run(handset, "cat /sdcard/window_dump.xml").out)
    texts = [node.get("text") for node in root.iter("node")]
    assert "a <b> & \"c\" \ufffd 'd'" in texts
    assert len(texts) == len(handset.phone.elements())
    direct = run(handset, "uiautomator dump /dev/tty").text
    assert direct.startswith("<?xml")
    assert direct.endswith("dumped to: /dev/tty\n")


def test_sizes(handset: Handset) -> None:
    assert run(handset, "wm size").text == "Physical size: 360x720\n"
    assert run(handset, "wm density").text == "Physical density: 160\n"
    assert run(handset, "wm size 100x100").code == 255
    assert "SurfaceOrientation: 0" in run(handset, "dumpsys input").text


# The phone as a machine --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "value", "field", "fact"),
    [
        ("global airplane_mode_on", "1", "airplane_mode", True),
        ("global wifi_on", "0", "wifi", False),
        ("system screen_brightness", "255", "brightness", 1.0),
        ("system font_scale", "1.3", "font_scale", 1.3),
        ("system time_12_24", "12", "use_24_hour", False),
        ("secure ui_night_mode", "2", "dark_mode", True),
        ("system screen_off_timeout", "300000", "screen_timeout_minutes", 5),
    ],
)
def test_settings_are_facts(
    handset: Handset, place: str, value: str, field: str, fact: object
) -> None:
    assert run(handset, f"settings put {place} {value}").code == 0
    assert getattr(settings_of(handset), field) == fact
    assert run(handset, f"settings get {place}").text == f"{value}\n"
    assert run(handset, f"settings put {place} nonsense").code == 1
    assert getattr(settings_of(handset), field) == fact


def test_other_settings_are_kept_beside(handset: Handset) -> None:
    assert run(handset, "settings get system show_touches").text == "null\n"
    run(handset, "settings put system show_touches 1")
    assert run(handset, "settings get system show_touches").text == "1\n"
    assert "show_touches=1" in run(handset, "settings list system").text
    assert run(handset, "settings delete system show_touches").text == "Deleted 1 rows\n"
    assert run(handset, "settings get nowhere x").code == 255


def test_switches_of_svc_and_cmd(handset: Handset) -> None:
    run(handset, "svc wifi disable; svc bluetooth enable; cmd uimode night yes")
    now = settings_of(handset)
    assert (now.wifi, now.bluetooth, now.dark_mode) == (False, True, True)
    run(handset, "cmd connectivity airplane-mode enable")
    assert settings_of(handset).airplane_mode
    assert run(handset, "svc wifi maybe").code == 1
    assert run(handset, "cmd nothing").code == 20


def test_properties_date_battery_and_log(handset: Handset) -> None:
    assert run(handset, "getprop sys.boot_completed").text == "1\n"
    assert "[ro.product.model]: [DistRL Phone]" in run(handset, "getprop").text
    assert run(handset, "setprop debug.x 5; getprop debug.x").text == "5\n"
    assert run(handset, "setprop ro.x 5").code == 1
    assert run(handset, "date +%Y-%m-%d").text == handset.phone.now.strftime("%Y-%m-%d\n")
    assert run(handset, "date 2020").code == 1
    level = settings_of(handset).battery_percent
    assert f"  level: {level}\n" in run(handset, "dumpsys battery").text
    handset.open_app("Notes")
    assert run(handset, "pidof com.distrl.notes").code == 0
    assert run(handset, "logcat -d").seconds == 0.0
    assert run(handset, "logcat").seconds == math.inf
    assert run(handset, "dumpsys nothing").code == 1


def test_a_reset_leaves_nothing_behind(handset: Handset) -> None:
    in_a_note(handset)
    run(handset, "echo x > /sdcard/left; settings put system left 1; setprop left 1")
    run(handset, f"ime set {KEYBOARD}; am broadcast -a clipper.set -e text x; input keyevent 26")
    assert run(handset, "cmd simulation reset 9").code == 0
    assert np.array_equal(handset.frame(), Phone(9).frame())
    assert run(handset, "ls /sdcard/left").code == 1
    assert run(handset, "settings get system left; getprop left").text == "null\n\n"
    assert handset.clipboard == ""
    assert KEYBOARD not in run(handset, "dumpsys input_method | grep mCurMethodId").text
    assert run(handset, "cmd simulation reset -1").code == 255


def test_the_whole_state_comes_out_and_goes_back(handset: Handset) -> None:
    in_a_note(handset)
    handset.perform(TypeText("kept"))
    snapshot = run(handset, "cmd simulation snapshot").out
    assert from_bytes(snapshot).facts.next_id == handset.phone.facts.next_id
    run(handset, "cmd simulation snapshot /sdcard/before; cp /sdcard/before /sdcard/bad")
    frame = handset.frame()
    other = Handset("other", seed=1)
    other.files.write("/sdcard/state", snapshot, 0)
    assert run(other, "cmd simulation restore /sdcard/state").code == 0
    assert np.array_equal(other.frame(), frame)
    other.files.write("/sdcard/bad", snapshot[:-5], 0)
    failed = run(other, "cmd simulation restore /sdcard/bad")
    assert failed.code == 1
    assert "snapshot" in failed.error
    assert np.array_equal(other.frame(), frame)
