"""Gestures and keys beyond tap and swipe, on pages that know them and on pages that do not."""

from __future__ import annotations

import pytest

from distrl.errors import InvalidAction
from distrl.records import (
    AskUser,
    DoubleTap,
    DragAndDrop,
    OpenApp,
    OpenShade,
    Pinch,
    Power,
    Recents,
    Tap,
    VolumeDown,
    VolumeUp,
)
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.snapshot import from_bytes, to_bytes
from phonesim.system import InstalledApp, SystemSettings


def middle(finger: Finger, label: str) -> tuple[float, float]:
    x, y = finger.find(label).centre
    return x / WIDTH, y / HEIGHT


def test_keys_open_the_shade_and_the_overview(phone: Phone, finger: Finger) -> None:
    finger.open("Notes")
    phone.perform(OpenShade())
    assert (phone.state.overlay, finger.sees("Wi-Fi")) == ("shade", True)
    phone.perform(Recents())
    assert (phone.state.overlay, finger.sees("Notes")) == ("recents", True)


def test_volume_keys_change_the_volume_and_say_so(phone: Phone, finger: Finger) -> None:
    before = phone.facts.one(SystemSettings).media_volume
    phone.perform(VolumeUp())
    assert phone.facts.one(SystemSettings).media_volume == pytest.approx(before + 1 / 15)
    assert finger.sees(f"Media volume {round(100 * (before + 1 / 15))}%")
    for _ in range(20):
        phone.perform(VolumeDown())
    assert phone.facts.one(SystemSettings).media_volume == 0.0


def test_a_phone_that_sleeps_is_black_and_feels_nothing(phone: Phone, finger: Finger) -> None:
    finger.open("Notes")
    awake = phone.routes
    phone.perform(Power())
    assert not phone.frame().any()
    assert phone.elements() == ()
    phone.perform(Tap(0.9, 0.9))
    phone.perform(OpenApp("Maps"))
    other = Phone()
    other.restore(from_bytes(to_bytes(phone.snapshot())))
    assert not other.frame().any()
    phone.perform(Power())
    assert (phone.state.front, phone.routes) == ("Notes", awake)
    assert phone.frame().any()


def test_a_map_is_pinched_away_and_tapped_closer(phone: Phone, finger: Finger) -> None:
    finger.open("Maps")
    near = phone.frame()
    phone.perform(Pinch(0.5, 0.5, 0.5))
    assert phone.routes[-1].memory["zoom"] == 2
    assert (phone.frame() != near).mean() > 0.1
    phone.perform(Pinch(0.5, 0.5, 2.0))
    assert phone.routes[-1].memory["zoom"] == 1
    phone.perform(Pinch(0.5, 0.5, 0.5))
    free = next(
        (x / 20, y / 40)
        for y in range(12, 24)
        for x in range(2, 18)
        if not any(t.on_tap for t in phone.scene.touch_at(int(x * 18), int(y * 18)))
    )
    phone.perform(DoubleTap(*free))
    assert phone.routes[-1].memory["zoom"] == 1


def test_elsewhere_a_double_tap_is_two_taps(phone: Phone, finger: Finger) -> None:
    finger.open("Calculator")
    phone.perform(DoubleTap(*middle(finger, "7")))
    assert finger.sees("77")


def test_an_icon_is_carried_to_another_place(phone: Phone, finger: Finger) -> None:
    first, second, *_ = [e.text for e in phone.elements() if e.role == "app"]
    places = {app.name: app.place for app in phone.facts.all(InstalledApp)}
    phone.perform(DragAndDrop(*middle(finger, first), *middle(finger, second)))
    after = {app.name: app.place for app in phone.facts.all(InstalledApp)}
    assert (after[first], after[second]) == (places[second], places[first])


def test_a_question_leaves_the_phone_as_it_is(phone: Phone) -> None:
    before = phone.state
    phone.perform(AskUser("Which one?"))
    assert phone.state is before


def test_what_no_finger_can_do_is_refused() -> None:
    with pytest.raises(InvalidAction, match=r"0\.1 to 10"):
        Pinch(0.5, 0.5, 0.0)
    with pytest.raises(InvalidAction, match="outside the screen"):
        DragAndDrop(0.5, 0.5, 1.5, 0.5)
