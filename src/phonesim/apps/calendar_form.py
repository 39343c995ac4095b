"""The form to create and change events."""

from __future__ import annotations

from datetime import date

from phonesim.app import Ui, Window
from phonesim.contents.calendar_events import (
    CALENDARS,
    DURATIONS,
    CalendarEvent,
    at,
    hour_words,
    reminder_words,
)
from phonesim.contents.timestamps import clock
from phonesim.toolkit.boxes import Column, Flow, Grid, Pad
from phonesim.toolkit.controls import Chip, IconButton
from phonesim.toolkit.month import day_words
from phonesim.toolkit.rows import ListRow
from phonesim.toolkit.texts import Heading
from phonesim.toolkit.widget import Widget

QUARTERS = (0, 15, 30, 45)


def event_form(ui: Ui, event_id: int) -> Window:
    """The form of an event; id 0 is a new one. The page's memory holds the draft."""
    if event_id:
        ui.facts.get(CalendarEvent, event_id)  # MissingFact closes the form
    return ui.page(
        "Edit event" if event_id else "New event",
        [
            Pad(ui.field("title", "Title"), bottom=2),
            *_time_fields(ui),
            Pad(ui.field("place", "Place", icon="location"), bottom=2),
            ListRow(
                "Reminder",
                reminder_words(ui.get("reminder")),
                icon="alarm",
                on_tap=lambda: ui.go("form_reminder", ui.get("reminder")),
            ),
            Pad(Flow([_choice(ui, "calendar", name, name) for name in CALENDARS])),
        ],
        actions=[IconButton("check", "Save", lambda: _save(ui, event_id))],
    )


def _time_fields(ui: Ui) -> list[Widget]:
    in_24, day = ui.settings.use_24_hour, date.fromisoformat(ui.text("day"))
    hours = [_choice(ui, "hour", hour, hour_words(hour, in_24)) for hour in range(24)]
    minutes = [_choice(ui, "minute", minute, f":{minute:02}") for minute in QUARTERS]
    lengths = [_choice(ui, "length", value, words) for words, value in DURATIONS.items()]
    starts = clock(at(day, ui.get("hour"), ui.get("minute")), in_24)
    return [
        ListRow(
            "Day",
            day_words(day, year=True),
            icon="calendar",
            on_tap=lambda: ui.go("form_day", day.isoformat()),
        ),
        Heading(f"Starts at {starts}"),
        Pad(Column([Grid(hours, 6 if in_24 else 4, 6), Grid(minutes, 4, 6)], gap=10), top=4),
        Heading("Duration"),
        Pad(Flow(lengths), top=4),
    ]


def _choice(ui: Ui, key: str, value: str | int, words: str) -> Chip:
    return Chip(words, lambda: ui.set(key, value), ui.get(key) == value)


def open_form(ui: Ui, day: date, event: CalendarEvent | None = None) -> None:
    """Open the form for an event, or for a new one on that day."""
    if event is None:
        event = CalendarEvent(start=at(day, min(23, ui.now.hour + 1)))
    ui.go(
        "form",
        event.id,
        title=event.title,
        place=event.place,
        day=day.isoformat(),
        hour=event.start.hour,
        minute=event.start.minute,
        length=event.minutes,
        reminder=event.reminder,
        calendar=event.calendar,
    )


def _save(ui: Ui, event_id: int) -> None:
    if not ui.text("title").strip():
        ui.say("Give the event a title first")
        return
    fields = {
        "title": ui.text("title").strip(),
        "start": at(date.fromisoformat(ui.text("day")), ui.get("hour"), ui.get("minute")),
        "minutes": ui.get("length"),
        "place": ui.text("place").strip(),
        "reminder": ui.get("reminder"),
        "calendar": ui.get("calendar"),
    }
    if event_id:
        ui.facts.edit(ui.facts.get(CalendarEvent, event_id), **fields)
    else:
        ui.facts.add(CalendarEvent(**fields))
    ui.back()
    ui.say("Event saved")
