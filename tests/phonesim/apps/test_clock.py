"""The app Clock, by taps."""

from __future__ import annotations

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp, Wait
from phonesim.contents.time_zones import difference_text
from phonesim.contents.timepieces import (
    Alarm,
    Stopwatch,
    Timer,
    WorldCity,
    alarm_switch,
    figures,
    stopwatch_seconds,
    timer_left,
)
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.system import SystemSettings
from phonesim.tasks.moves import Fill, Hold, Press, Toggle


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.facts.change(SystemSettings, use_24_hour=True)
    phone.facts.remove_where(Alarm, lambda _: True)
    phone.facts.remove_where(WorldCity, lambda _: True)
    phone.perform(OpenApp("Clock"))
    return phone


def add(phone: Phone, alarm: Alarm) -> Alarm:
    stored = phone.facts.add(alarm)
    phone.refresh()
    return stored


def test_an_alarm_is_set(phone: Phone, finger: Finger, use: Use) -> None:
    use(Press("Add alarm"), Press("18"), Press(":35"), Press("Tue"), Press("Sun"))
    use(Press("Tue"), Fill("Label", "Choir"), Press("Save"))
    (alarm,) = phone.facts.all(Alarm)
    wanted = Alarm(alarm.id, 18, 35, "Choir", (6,), True)
    assert alarm == wanted
    assert "18:35" in finger.labels


@pytest.mark.parametrize(
    ("presses", "hour"),
    [(("PM",), 20), (("12",), 0), (("PM", "12"), 12), (("11", "PM"), 23), (("PM", "AM"), 8)],
)
def test_twelve_hours_have_two_halves(
    phone: Phone, use: Use, presses: tuple[str, ...], hour: int
) -> None:
    phone.facts.change(SystemSettings, use_24_hour=False)
    phone.refresh()
    use(Press("Add alarm"), *(Press(label) for label in presses), Press("Save"))
    assert phone.facts.one(Alarm).hour == hour


def test_an_alarm_is_changed_without_losing_its_label(phone: Phone, use: Use) -> None:
    alarm = add(phone, Alarm(hour=7, minute=5, label="Bread", days=(1, 3)))
    use(Press("07:05", role="row"), Press("6"), Press("Save"))
    assert phone.facts.one(Alarm) == Alarm(alarm.id, 6, 5, "Bread", (1, 3), True)


def test_an_alarm_is_switched_off_and_deleted(phone: Phone, finger: Finger, use: Use) -> None:
    alarm = add(phone, Alarm(hour=7, minute=5))
    use(Toggle(alarm_switch(alarm, True), False, role="switch"))
    assert not phone.facts.one(Alarm).enabled
    use(Hold("07:05"), Press("Turn on"))
    assert phone.facts.one(Alarm).enabled
    use(Press("07:05", role="row"), Press("Delete"))
    assert "No alarms" in finger.labels


def test_cities_come_and_go(phone: Phone, use: Use) -> None:
    use(Press("World clock"), Press("Add city"), Fill("Search cities", "japan"))
    use(Press("Tokyo", role="row"))
    (row,) = [element for element in phone.elements() if element.text == "Tokyo"]
    assert row.detail.endswith("8 h ahead")  # seen from Berlin
    use(Press("Remove Tokyo"))
    assert phone.facts.all(WorldCity) == ()


def test_differences_in_words() -> None:
    assert difference_text("Delhi", "Berlin") == "4 h 30 min ahead"
    assert difference_text("Lisbon", "Berlin") == "1 h behind"
    assert difference_text("Oslo", "Berlin") == "Same time"


def test_a_timer_runs_down_pauses_and_ends(phone: Phone, use: Use) -> None:
    use(Press("Timer"), Press("2"), Press("00"), Press("Start"))
    phone.perform(Wait(40))
    running = timer_left(phone.facts.one(Timer), phone.now)
    assert 60 <= running <= 80
    use(Press("Pause"))
    phone.perform(Wait(300))
    assert timer_left(phone.facts.one(Timer), phone.now) == running
    use(Press("Resume"))
    phone.perform(Wait(300))
    assert timer_left(phone.facts.one(Timer), phone.now) == 0
    use(Press("Cancel"))
    assert phone.facts.all(Timer) == ()


def test_there_may_be_two_timers(phone: Phone, use: Use) -> None:
    use(Press("Timer"), Press("5 min"), Press("Start"))
    use(Press("Add timer"), Press("9"), Press("0"), Press("Start"))
    assert [timer.seconds for timer in phone.facts.all(Timer)] == [300, 90]


def test_the_stopwatch_counts_laps_and_keeps_its_time(phone: Phone, use: Use) -> None:
    use(Press("Stopwatch", role="tab"), Press("Start"), Press("Lap"), Press("Lap"))
    assert phone.facts.one(Stopwatch).laps == (5, 10)
    use(Press("Stop"))
    stopped = stopwatch_seconds(phone.facts.one(Stopwatch), phone.now)
    phone.perform(Wait(100))
    assert stopwatch_seconds(phone.facts.one(Stopwatch), phone.now) == stopped == 15
    use(Press("Reset"))
    assert phone.facts.one(Stopwatch).laps == ()


def test_seconds_in_figures() -> None:
    assert [figures(seconds) for seconds in (-3, 65, 3725)] == ["0:00", "1:05", "1:02:05"]
