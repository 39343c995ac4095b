"""A profile shows in what the phone says of itself, and in when things happen."""

from __future__ import annotations

import io
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from tests.phonesim.adb_daemon.shells import run

from distrl.devices.adb.uiautomator import read_hierarchy
from distrl.errors import InvalidSetting
from distrl.records import Home, OpenApp, Tap
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.handset_profile import (
    PLAIN,
    PROFILES,
    SAMSUNG,
    SLOW,
    HandsetProfile,
    Panel,
    changed_profile,
    named_profile,
)
from phonesim.adb_daemon.services import banner, open_service
from phonesim.adb_daemon.shell import Shell
from phonesim.adb_daemon.streams import Inbox
from phonesim.apps import APPS
from phonesim.display import Display
from phonesim.latency import LogNormal
from phonesim.state import LAUNCHER


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def is_starting(handset: Handset) -> bool:
    return handset.starting is not None


# Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROFILES)
def test_a_preset_names_apps_that_there_are(name: str) -> None:
    assert set(PROFILES[name].packages) <= {LAUNCHER, *APPS}
    assert named_profile(name) is PROFILES[name]


def test_apps_are_known_by_their_makers_packages_alone() -> None:
    handset, clock = Handset("vendor", 5, profile=SAMSUNG), "com.sec.android.app.clockpackage"
    assert run(handset, "am start -n com.distrl.clock/.HomeActivity").code == 1
    assert run(handset, f"am start -n {clock}/.HomeActivity").code == 0
    assert handset.phone.state.front == "Clock"
    assert f" {clock}/{clock}.HomeActivity}}" in run(handset, "dumpsys window").text
    assert f'package="{clock}"' in run(handset, "uiautomator dump /dev/tty").text
    listed = run(handset, "pm list packages").text.split()
    assert {f"package:{clock}", "package:com.samsung.android.honeyboard"} <= set(listed)
    assert "package:com.distrl.clock" not in listed
    assert "honeyboard" in run(handset, "settings get secure default_input_method").text


def test_the_phone_says_who_made_it() -> None:
    handset = Handset("vendor", 5, profile=replace(SAMSUNG, hardware="qcom"))
    names = ("manufacturer", "brand", "model", "name")
    said = [run(handset, f"getprop ro.product.{name}").text.strip() for name in names]
    assert said == ["samsung", "samsung", "SM-S918B", "dm3qxxx"]
    assert run(handset, "getprop ro.hardware").text == "qcom\n"
    assert b"ro.product.model=SM-S918B;" in banner(handset)
    assert b"ro.product.model=DistRL_Phone;" in banner(Handset("plain"))


def test_a_profile_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="'nokia'; there are plain, samsung"):
        named_profile("nokia")
    with pytest.raises(InvalidSetting, match="each app has one of its own"):
        HandsetProfile(packages={"Clock": "com.a", "Notes": "com.a"})
    with pytest.raises(InvalidSetting, match="restless_dumps"):
        HandsetProfile(restless_dumps=-1)


# Sizes -------------------------------------------------------------------------------------------


def test_a_screen_that_is_drawn_smaller_than_its_panel() -> None:
    profile = replace(PLAIN, display=Display(640, 1280, 2), panel=Panel(960, 1920, 500))
    handset = Handset("panel", 5, profile=profile)
    assert run(handset, "wm size").text == "Physical size: 960x1920\nOverride size: 640x1280\n"
    assert run(handset, "wm density").text == "Physical density: 500\nOverride density: 320\n"
    assert run(handset, "getprop ro.sf.lcd_density").text == "500\n"
    assert (
        "init=960x1920 500dpi base=640x1280 320dpi cur=640x1280"
        in run(handset, "dumpsys window displays").text
    )
    with Image.open(io.BytesIO(run(handset, "screencap -p").out)) as picture:
        assert picture.size == (640, 1280)
    elements = read_hierarchy(run(handset, "uiautomator dump /dev/tty").text, "panel")
    assert [each.bounds for each in elements] == [each.bounds for each in handset.elements()]
    assert 320 < max(element.bounds[2] for element in elements) <= 640
    assert Handset("other", profile=profile, display=Display()).profile.panel is None


# Times -------------------------------------------------------------------------------------------


def test_an_app_that_starts_is_not_seen_until_its_time_has_come() -> None:
    clock = Clock()
    handset = Handset("slow", 5, profile=HandsetProfile(launch=LogNormal(2.0)), clock=clock)
    before, elements = handset.frame(), handset.elements()
    said = run(handset, "am start -W -n com.distrl.notes/.HomeActivity")
    assert (said.seconds, "TotalTime: 2001" in said.text) == (2.0, True)
    clock.now += 1.9
    assert np.array_equal(handset.frame(), before)
    assert handset.elements() == elements
    focus = run(handset, "dumpsys window").text
    assert "mCurrentFocus=null" in focus
    assert "com.distrl.notes/.HomeActivity" in focus.split("mFocusedApp=")[1].splitlines()[0]
    assert 'package="com.distrl.launcher"' in run(handset, "uiautomator dump /dev/tty").text
    actions = handset.phone.state.actions
    handset.perform(Tap(0.5, 0.5))
    assert handset.phone.state.actions == actions, "there is no window to be touched"
    clock.now += 0.1
    assert np.array_equal(handset.frame(), handset.phone.frame())
    assert "mCurrentFocus=Window" in run(handset, "dumpsys window").text
    handset.perform(Home())
    handset.perform(OpenApp("Notes"))  # it runs already
    assert not is_starting(handset)
    handset.perform(OpenApp("Clock"))
    assert is_starting(handset)
    run(handset, "am force-stop com.distrl.clock")
    assert not is_starting(handset)


def test_a_program_acts_when_it_has_started() -> None:
    profile = changed_profile(PLAIN, input_seconds=0.7, screencap_seconds=0.4)
    handset = Handset("slow", 5, profile=profile)
    handset.open_app("Notes")
    results = Shell(handset).run("X=1 exec /system/bin/input keyevent HOME")
    assert next(results).seconds == 0.7
    assert handset.phone.state.front == "Notes"
    next(results)
    assert handset.phone.state.front == LAUNCHER
    assert run(handset, "screencap -p | wc -c; echo; input keyevent 4").seconds == 1.1
    assert run(handset, "false && input keyevent 4").seconds == 0.0
    service = open_service(handset, "framebuffer:")
    assert service is not None
    pause, picture = service(Inbox())
    assert (pause, picture) == (0.4, handset.framebuffer())


def test_times_are_drawn_within_their_cap_and_come_again_with_the_seed() -> None:
    first, again = (Handset("drawn", 3, profile=SLOW) for _ in range(2))
    other = Handset("other", 3, profile=SLOW)

    def drawn(handset: Handset) -> list[float]:
        return [handset.seconds_to_start("input") for _ in range(200)]

    times = drawn(first)
    assert times == drawn(again) != drawn(other)
    assert max(times) <= 2.0
    assert len(set(times)) > 100
    first.reset(3)
    assert drawn(first) == times


def test_the_first_dumps_find_no_idle_state() -> None:
    handset = Handset("restless", 5, profile=HandsetProfile(restless_dumps=2))
    for _ in range(2):  # and again after a reset
        for _ in range(2):
            said = run(handset, "uiautomator dump")
            assert (said.text, said.code) == ("", 0)
            assert said.error == "ERROR: could not get idle state.\n"
        assert "dumped to" in run(handset, "uiautomator dump").text
        assert ET.fromstring(run(handset, "cat /sdcard/window_dump.xml").out).tag == "hierarchy"
        handset.reset(5)
