"""Screens of other sizes and densities: the same layout, finer; and 360 × 720 as it always was."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from tests.phonesim.adb_daemon.shells import run

from distrl.episodes.demonstrations import demonstrate
from distrl.errors import InvalidSetting
from distrl.records import Action, Ending, OpenApp, Pixels, Swipe, Tap
from phonesim.adb_daemon.handset import Handset
from phonesim.display import STANDARD, Display, read_display
from phonesim.drawing.fonts import face, text_mask, text_width
from phonesim.drift import NO_DRIFT, Drift
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice
from phonesim.snapshot import from_bytes, to_bytes
from phonesim.tasks.task_sets import load_task, template_names

SHADE = Swipe(0.5, 0.005, 0.5, 0.6)
SCREENS: dict[str, tuple[Action, ...]] = {
    "home": (),
    "shade": (SHADE,),
    "Settings": (OpenApp("Settings"),),
    "keyboard": (OpenApp("Settings"), Tap(0.5, 0.14)),
    "Maps": (OpenApp("Maps"),),
    "Clock": (OpenApp("Clock"),),
}
# Of the phone before there were other densities.
DIGESTS: dict[str, str] = {
    "home": "e3980187f296528a",
    "shade": "e663528e39cfeb3b",
    "Settings": "a6576749a2c3ed1a",
    "keyboard": "78c9f4501c98aad5",
    "Maps": "39bbe9bad7b65831",
    "Clock": "700e9ea50a858af7",
}
OTHERS = ("1080x2400@3", "720x1280@2", "720x360@1", "1280x800@1")


def screen_after(actions: tuple[Action, ...], phone: Phone) -> Pixels:
    for action in actions:
        phone.perform(action)
    return phone.frame()


@pytest.mark.parametrize("name", SCREENS)
def test_the_standard_screen_has_the_pixels_it_always_had(name: str) -> None:
    frame = screen_after(SCREENS[name], Phone(11, Drift(popup_rate=0.0)))
    assert hashlib.blake2b(frame.tobytes(), digest_size=8).hexdigest() == DIGESTS[name]


@pytest.mark.parametrize("name", ["home", "keyboard", "Clock"])
def test_a_dense_screen_is_the_same_picture_with_more_pixels(name: str) -> None:
    plain = screen_after(SCREENS[name], Phone(11, NO_DRIFT))
    dense = screen_after(SCREENS[name], Phone(11, NO_DRIFT, Display(720, 1440, 2)))
    assert dense.shape == (1440, 720, 3)
    shrunk = dense.reshape(720, 2, 360, 2, 3).mean(axis=(1, 3))
    apart = np.abs(shrunk - plain).mean()
    assert apart < 6  # text and icons a little, everything else not at all
    other = screen_after(SCREENS["Settings"], Phone(11, NO_DRIFT))
    assert np.abs(shrunk - other).mean() > 2 * apart  # the measure can tell screens apart


def test_the_layout_is_that_of_density_one() -> None:
    plain, dense = Phone(11, NO_DRIFT), Phone(11, NO_DRIFT, Display(1080, 2160, 3))
    for phone in (plain, dense):
        phone.perform(OpenApp("Settings"))
    assert dense.display.in_units(dense.elements()) == plain.elements()
    assert [e.bounds[2] for e in dense.elements()] == [3 * e.bounds[2] for e in plain.elements()]


def test_a_tap_does_the_same_on_every_density() -> None:
    phones = [Phone(11, NO_DRIFT), Phone(11, NO_DRIFT, Display(1080, 2160, 3))]
    for phone in phones:
        for action in (OpenApp("Settings"), Tap(0.5, 0.3), Tap(0.1, 0.06), SHADE):
            phone.perform(action)
    assert phones[0].state.running == phones[1].state.running
    assert phones[0].state.overlay == phones[1].state.overlay == "shade"


@pytest.mark.parametrize("text", ["Wi-Fi", "", "Illilli, mmm", "W"])
def test_dense_text_has_exactly_the_width_that_was_laid_out(text: str) -> None:
    of = face(15)
    height, width = text_mask(text, of, 3).shape
    assert (height, width) == (3 * of.line_height, max(1, 3 * text_width(text, of)))
    assert (text_mask(text, of, 1) == text_mask(text, of)).all()


def test_displays_are_read_and_refused() -> None:
    assert read_display(" 1080x2400@3 ") == Display(1080, 2400, 3)
    assert read_display("800x1280") == Display(800, 1280)
    assert str(read_display(str(STANDARD))) == "360x720@1"
    for wrong in (
        "360",
        "360x720@",
        "1080x2401@3",
        "360x720@4",
        "100x100",
        "9999x9999@1",
        "٣٦٠x720",
    ):
        with pytest.raises(InvalidSetting, match="screen"):
            read_display(wrong)


def test_the_display_comes_with_a_snapshot() -> None:
    phone, other = Phone(2, NO_DRIFT, Display(640, 1280, 2)), Phone(2)
    other.restore(from_bytes(to_bytes(phone.snapshot())))
    assert other.display == Display(640, 1280, 2)
    assert (other.frame() == phone.frame()).all()


def test_adb_speaks_in_pixels() -> None:
    handset = Handset("dense", 5, NO_DRIFT, display=Display(1080, 2400, 3))
    assert run(handset, "wm size").text.strip() == "Physical size: 1080x2400"
    assert run(handset, "wm density").text.strip() == "Physical density: 480"
    assert run(handset, "getprop ro.sf.lcd_density").text.strip() == "480"
    icon = next(e for e in handset.elements() if e.text == "Settings")
    x, y = icon.centre
    run(handset, f"input tap {x} {y}")
    assert handset.phone.state.front == "Settings"
    handset.reset(6)
    assert handset.frame().shape == (2400, 1080, 3)


def succeed(template: str, screen: str) -> bool:
    task, _ = load_task(f"{template}/train/0")
    device = SimulatedDevice("phone", display=read_display(screen))
    return demonstrate(task, device).ending is Ending.SUCCESS


@pytest.mark.parametrize("screen", OTHERS)
def test_scripts_succeed_on_other_screens(screen: str) -> None:
    assert succeed("settings.quick_on", screen)


@pytest.mark.slow
@pytest.mark.parametrize("screen", ["1080x2400@3", "1280x800@1"])
def test_every_fourth_template_succeeds_on_other_screens(screen: str) -> None:
    assert [t for t in template_names("train")[::4] if not succeed(t, screen)] == []
