"""The app Calendar, by taps."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.contents.calendar_events import CalendarEvent, at
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.system import SystemSettings
from phonesim.tasks.moves import Fill, Press


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.facts.change(SystemSettings, use_24_hour=True)
    phone.perform(OpenApp("Calendar"))
    return phone


def add(phone: Phone, title: str, days: int = 1) -> CalendarEvent:
    start = at(phone.now.date() + timedelta(days=days), 10)
    return phone.facts.add(CalendarEvent(title=title, start=start, place="Pier 3"))


def test_a_new_event_gets_what_the_form_says(phone: Phone, use: Use) -> None:
    use(Press("New event"), Fill("Title", "Regatta"), Press("Day"), Press("Next month"))
    use(Press("17", role="day"), Press("14"), Press(":30"), Press("2 h"))
    use(Fill("Place", "Lake"), Press("Work"), Press("Save"))
    (event,) = phone.facts.where(CalendarEvent, lambda e: e.title == "Regatta")
    month = phone.now.month % 12 + 1
    assert (event.start.month, event.start.day) == (month, 17)
    assert (event.start.hour, event.start.minute, event.minutes) == (14, 30, 120)
    assert (event.place, event.calendar) == ("Lake", "Work")


def test_an_event_without_a_title_is_not_saved(phone: Phone, use: Use) -> None:
    before = phone.facts.all(CalendarEvent)
    use(Press("New event"), Press("Save"))
    assert phone.facts.all(CalendarEvent) == before
    assert phone.routes[-1].page == "form"


def test_moving_keeps_the_time_of_day(phone: Phone, use: Use) -> None:
    event = add(phone, "Regatta")
    phone.refresh()
    use(Press("Agenda", role="tab"), Press("Regatta"), Press("Move"))
    use(Press("Next month"), Press("9", role="day"))
    moved = phone.facts.get(CalendarEvent, event.id)
    assert moved.start.day == 9
    assert moved.start.time() == event.start.time()


def test_a_deleted_event_takes_its_page_with_it(phone: Phone, use: Use) -> None:
    event = add(phone, "Regatta")
    phone.refresh()
    use(Press("Agenda", role="tab"), Press("Regatta"), Press("Delete"), Press("Delete"))
    assert event not in phone.facts.all(CalendarEvent)
    phone.frame()
    assert phone.routes[-1].page == "home"


def test_a_day_of_the_grid_shows_that_day(phone: Phone, finger: Finger, use: Use) -> None:
    add(phone, "Regatta", days=40)
    day = phone.now.date() + timedelta(days=40)
    months = (day.year - phone.now.year) * 12 + day.month - phone.now.month
    use(*[Press("Next month")] * months, Press(str(day.day), role="day"))
    assert "Regatta" in finger.labels


def test_the_name_of_the_month_leads_to_any_month(phone: Phone, finger: Finger, use: Use) -> None:
    title = next(text for text in finger.labels if text.endswith(f" {phone.now.year}"))
    use(Press(title), Press("Dec"))
    assert f"December {phone.now.year}" in finger.labels


def test_times_follow_the_clock_of_the_system(phone: Phone, finger: Finger, use: Use) -> None:
    event = add(phone, "Regatta")
    phone.facts.edit(event, start=event.start.replace(hour=15))
    phone.facts.change(SystemSettings, use_24_hour=False)
    phone.refresh()
    use(Press("Agenda", role="tab"), Press("Regatta"))
    assert "3:00 PM – 4:00 PM" in finger.labels


def test_a_reminder_is_one_of_several_choices(phone: Phone, use: Use) -> None:
    event = add(phone, "Regatta")
    phone.refresh()
    use(Press("Search events"), Fill("Search events", "rega"), Press("Regatta"))
    use(Press("Reminder"), Press("1 hour before"))
    assert phone.facts.get(CalendarEvent, event.id).reminder == 60
