"""Calendar: a month view, an agenda, and events to create, move, change and delete."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta

from phonesim.app import App, Ui, Window
from phonesim.apps.calendar_form import event_form, open_form
from phonesim.contents.calendar_events import (
    CALENDARS,
    REMINDERS,
    CalendarEvent,
    CalendarStart,
    duration_words,
    furnish_events,
    reminder_words,
)
from phonesim.contents.timestamps import clock
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.agenda import AgendaRow
from phonesim.toolkit.boxes import Column, Grid, Line, Pad, Row, Space
from phonesim.toolkit.controls import Button, Chip, IconButton
from phonesim.toolkit.month import (
    MONTHS,
    MonthGrid,
    day_words,
    month_bar,
    month_of,
    months_after,
)
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

MAX_ROWS = 30


class CalendarApp(App):
    """Two views of the same events: month and agenda."""

    name = "Calendar"
    icon = "calendar"
    color = (38, 110, 220)
    kinds = (CalendarEvent, CalendarStart)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        facts.add(CalendarStart(day=now.date()))
        furnish_events(facts, rng, now.date())

    # The two views -----------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        labels = ("Agenda", "Month") if ui.version == 3 else ("Month", "Agenda")
        icons = ("list", "calendar") if ui.version == 3 else ("calendar", "list")
        day = _chosen_day(ui)
        month = ui.tab(*labels) == "Month"
        return ui.page(
            "Calendar",
            self._month(ui, day) if month else self._agenda(ui),
            tabs=ui.tabs(*labels, icons=icons if ui.version == 2 else ()),
            actions=[
                IconButton("search", "Search events", lambda: ui.go("search")),
                IconButton("calendar", "Today", lambda: _show(ui, ui.now.date())),
            ],
            primary=("plus", "New event", lambda: open_form(ui, day)),
        )

    def _month(self, ui: Ui, day: date) -> list[Widget]:
        events = ui.facts.all(CalendarEvent)
        today = sorted((e for e in events if e.start.date() == day), key=lambda e: e.start)
        rows: list[Widget] = [_row(ui, event) for event in today]
        return [
            _month_widget(ui, lambda picked: _show(ui, picked), chosen=day),
            Line(),
            Heading(day_words(day)),
            *(rows or [Pad(Text("Nothing planned", "small", "muted"))]),
            Space(76),
        ]

    def _agenda(self, ui: Ui) -> list[Widget]:
        today = ui.now.date()
        coming = ui.facts.where(CalendarEvent, lambda e: e.start.date() >= today)
        return _by_day(ui, coming) or [Empty("Nothing planned", "calendar")]

    def search(self, ui: Ui) -> Window:
        query = ui.text("query").casefold()
        found = ui.facts.where(CalendarEvent, lambda e: query in f"{e.title} {e.place}".casefold())
        return ui.page(
            "Search",
            _by_day(ui, found) or [Empty("No such event", "search")],
            head=Pad(ui.field("query", "Search events", icon="search"), sides=12, top=4, bottom=4),
        )

    # One event ---------------------------------------------------------------------------------

    def event(self, ui: Ui, event_id: int) -> Window:
        event = ui.facts.get(CalendarEvent, event_id)
        in_24 = ui.settings.use_24_hour
        when = f"{clock(event.start, in_24)} – {clock(event.end, in_24)}"
        rows = [
            ListRow(when, duration_words(event.minutes), icon="clock"),
            ListRow(event.place or "No place", icon="location"),
            ListRow(
                "Reminder",
                reminder_words(event.reminder),
                icon="alarm",
                on_tap=lambda: ui.go("reminder", event_id),
            ),
            ListRow(event.calendar, "Calendar", icon="calendar"),
        ]
        more = [
            Button("Move", lambda: ui.go("move", event_id), "soft", "forward"),
            Button("Duplicate", lambda: _duplicate(ui, event), "soft", "copy"),
        ]
        return ui.page(
            "Event",
            [
                Pad(Text(event.title, "headline", max_lines=3), top=16, bottom=2),
                Pad(Text(day_words(event.start.date(), year=True), "body", "primary"), top=0),
                *(rows[::-1] if ui.version == 3 else rows),
                Pad(Row(more, align="spread"), top=14),
            ],
            actions=[
                IconButton("edit", "Edit", lambda: open_form(ui, event.start.date(), event)),
                IconButton("trash", "Delete", lambda: ui.go("confirm_delete", event_id)),
            ],
        )

    def confirm_delete(self, ui: Ui, event_id: int) -> Window:
        event = ui.facts.get(CalendarEvent, event_id)

        def delete() -> None:
            ui.facts.remove(event)
            ui.say("Event deleted")

        text = f"“{event.title}” will be removed from your calendar."
        return ui.dialog("Delete event?", text, {"Cancel": None, "Delete": delete})

    def reminder(self, ui: Ui, event_id: int) -> Window:
        event = ui.facts.get(CalendarEvent, event_id)

        def choose(minutes: int | None) -> Handler:
            return lambda: ui.facts.edit(event, reminder=minutes)

        choices = {words: choose(minutes) for words, minutes in REMINDERS.items()}
        return ui.sheet("Remind me", choices, chosen=reminder_words(event.reminder))

    def move(self, ui: Ui, event_id: int) -> Window:
        event = ui.facts.get(CalendarEvent, event_id)

        def to(day: date) -> None:
            ui.facts.edit(event, start=datetime.combine(day, event.start.time()))
            ui.back()
            ui.say(f"Moved to {day_words(day)}")

        grid = _month_widget(ui, to, chosen=event.start.date())
        return ui.page("Move to", [Pad(Text(event.title, "strong")), grid])

    # Making and changing -----------------------------------------------------------------------

    def form(self, ui: Ui, event_id: int) -> Window:
        return event_form(ui, event_id)

    def form_day(self, ui: Ui, day: str) -> Window:
        def choose(picked: date) -> None:
            ui.back()
            ui.set("day", picked.isoformat())

        grid = _month_widget(ui, choose, chosen=date.fromisoformat(day))
        return ui.page("Choose a day", [grid])

    def form_reminder(self, ui: Ui, current: int | None) -> Window:
        def choose(minutes: int | None) -> Handler:
            return lambda: ui.set("reminder", minutes)

        choices = {words: choose(minutes) for words, minutes in REMINDERS.items()}
        return ui.sheet("Remind me", choices, chosen=reminder_words(current))

    def choose_month(self, ui: Ui, shown: str) -> Window:
        """A dialog with the months of a year; the choice changes the page below."""
        month = date.fromisoformat(shown)

        def show(number: int) -> Handler:
            return ui.closing(lambda: ui.set("month", month.replace(month=number).isoformat()))

        chips = [Chip(name[:3], show(i + 1), i + 1 == month.month) for i, name in enumerate(MONTHS)]
        return ui.dialog(str(month.year), [Grid(chips, 4, 8)], {"Cancel": None})


def _chosen_day(ui: Ui) -> date:
    return date.fromisoformat(ui.text("day", ui.now.date().isoformat()))


def _show(ui: Ui, day: date) -> None:
    ui.set("day", day.isoformat())
    ui.set("month", month_of(day).isoformat())


def _month_widget(ui: Ui, on_pick: Callable[[date], None], chosen: date) -> Widget:
    month = date.fromisoformat(ui.text("month", month_of(chosen).isoformat()))
    following = months_after(month, 1)
    days = (event.start.date() for event in ui.facts.all(CalendarEvent))
    marks = Counter(day for day in days if month <= day < following)
    bar = month_bar(
        month,
        lambda turned: ui.set("month", turned.isoformat()),
        lambda: ui.go("choose_month", month.isoformat()),
        ui.language,
    )
    return Pad(
        Column([bar, MonthGrid(month, ui.now.date(), on_pick, chosen, marks)]),
        sides=8, top=2, bottom=4,
    )  # fmt: skip


def _row(ui: Ui, event: CalendarEvent) -> AgendaRow:
    in_24 = ui.settings.use_24_hour
    return AgendaRow(
        event.title,
        clock(event.start, in_24),
        clock(event.end, in_24),
        event.place or event.calendar,
        CALENDARS[event.calendar],
        on_tap=lambda: ui.go("event", event.id),
        on_hold=lambda: ui.go("confirm_delete", event.id),
    )


def _by_day(ui: Ui, events: Iterable[CalendarEvent]) -> list[Widget]:
    rows: list[Widget] = []
    day = None
    for event in sorted(events, key=lambda e: e.start)[:MAX_ROWS]:
        if event.start.date() != day:
            day = event.start.date()
            rows.append(Heading(_near_words(day, ui.now.date())))
        rows.append(_row(ui, event))
    return [*rows, Space(76)] if rows else []


def _near_words(day: date, today: date) -> str:
    near = {0: "Today, ", 1: "Tomorrow, "}.get((day - today).days, "")
    return near + day_words(day)


def _duplicate(ui: Ui, event: CalendarEvent) -> None:
    copy = ui.facts.add(
        CalendarEvent(
            0, event.title, event.start + timedelta(days=7), event.minutes, event.place,
            event.reminder, event.calendar,
        )
    )  # fmt: skip
    ui.swap("event", copy.id)
    ui.say("Copied to one week later")
