"""Clock: alarms, the time in other cities, timers and a stopwatch.

A running timer or stopwatch is stored as the moment it ends or began; what is shown is computed
from the phone's time, so nothing has to tick.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from phonesim.app import App, Ui, Window
from phonesim.contents.time_zones import TIME_ZONES, difference_text, time_in
from phonesim.contents.timepieces import (
    DAYS,
    Alarm,
    Stopwatch,
    Timer,
    WorldCity,
    alarm_detail,
    alarm_switch,
    figures,
    stopwatch_seconds,
    time_text,
    timer_left,
)
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.system import SystemSettings
from phonesim.toolkit.boxes import Column, Grid, Pad, Row, Space
from phonesim.toolkit.clock_faces import AlarmRow, Dial
from phonesim.toolkit.controls import Button, Chip, IconButton
from phonesim.toolkit.keypads import Key
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

TABS = ("Alarm", "World clock", "Timer", "Stopwatch")
ICONS = ("alarm", "globe", "timer", "stopwatch")
MAX_TIMER = 6  # digits: hhmmss
PRESETS = (1, 3, 5, 10)  # minutes
FIRST_ALARMS = (
    (6, 45, "Run", (0, 2, 4)), (7, 15, "Work", (0, 1, 2, 3, 4)), (9, 0, "Market", (5,)),
    (21, 30, "Call home", (6,)), (8, 20, "", ()), (13, 0, "Lunch break", (0, 1, 2, 3)),
)  # fmt: skip
FIRST_CITIES = ("London", "New York", "Tokyo", "Sydney", "Cairo", "Lima")


class ClockApp(App):
    """Four tabs: alarms, world clock, timers, stopwatch."""

    name = "Clock"
    icon = "clock"
    color = (38, 70, 130)
    kinds = (Alarm, WorldCity, Timer, Stopwatch)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        for hour, minute, label, days in rng.sample(FIRST_ALARMS, 3):
            facts.add(Alarm(0, hour, minute, label, days, rng.random() < 0.6))
        for name in rng.sample(FIRST_CITIES, 2):
            facts.add(WorldCity(name=name))
        facts.add(Stopwatch())

    def home(self, ui: Ui) -> Window:
        current = ui.tab(*TABS)
        body = {
            "Alarm": _alarms,
            "World clock": _cities,
            "Timer": _timers,
            "Stopwatch": _stopwatch,
        }[current](ui)
        primary: dict[str, tuple[str, str, Handler]] = {
            "Alarm": ("plus", "Add alarm", lambda: ui.go("edit_alarm", 0, hour=8, minute=0)),
            "World clock": ("plus", "Add city", lambda: ui.go("add_city")),
        }
        if current == "Timer" and ui.facts.all(Timer):
            primary["Timer"] = ("plus", "Add timer", lambda: ui.go("new_timer"))
        at_the_top = ui.version == 2 and ui.settings.font_scale <= 1.0  # larger fonts do not fit
        return ui.page(
            current,
            body,
            tabs=ui.tabs(*TABS, icons=() if at_the_top else ICONS),
            primary=primary.get(current),
        )

    # Alarms ------------------------------------------------------------------------------------

    def alarm_menu(self, ui: Ui, alarm_id: int) -> Window:
        alarm = ui.facts.get(Alarm, alarm_id)
        return ui.sheet(
            time_text(alarm.hour, alarm.minute, ui.settings.use_24_hour),
            {
                "Turn off" if alarm.enabled else "Turn on": _enabling(ui, alarm),
                "Delete": lambda: _delete_alarm(ui, alarm),
            },
        )

    def edit_alarm(self, ui: Ui, alarm_id: int) -> Window:
        """The form of an alarm; id 0 is a new one. The page's memory holds the draft."""
        hour, minute = int(ui.get("hour", 8)), int(ui.get("minute", 0))
        days: tuple[int, ...] = ui.get("days", ())

        def save() -> None:
            draft = Alarm(alarm_id, hour, minute, ui.text("label").strip(), days, True)
            if alarm_id:
                ui.facts.put(draft)
            else:
                ui.facts.add(draft)
            ui.back()
            ui.say(f"Alarm set for {time_text(hour, minute, ui.settings.use_24_hour)}")

        actions = [IconButton("check", "Save", save)]
        if alarm_id:
            alarm = ui.facts.get(Alarm, alarm_id)
            delete = IconButton("trash", "Delete", lambda: _delete_alarm(ui, alarm))
            actions.insert(0, delete)
        shown = time_text(hour, minute, ui.settings.use_24_hour)
        return ui.page(
            "Edit alarm" if alarm_id else "New alarm",
            [
                Pad(Text(shown, "headline", "primary", align="centre"), top=8, bottom=0),
                Pad(ui.field("label", "Label", icon="tag"), top=4, bottom=0),
                *_hour_chips(ui, hour),
                *_minute_chips(ui, minute),
                *_day_chips(ui, days),
                Space(16),
            ],
            actions=actions,
        )

    # World clock -------------------------------------------------------------------------------

    def add_city(self, ui: Ui) -> Window:
        query = ui.text("query").casefold()
        known = {city.name for city in ui.facts.all(WorldCity)}
        rows = [
            ListRow(city, country, on_tap=ui.closing(_adding(ui, city)))
            for city, (country, _) in TIME_ZONES.items()
            if city not in known and query in f"{city} {country}".casefold()
        ]
        search = ui.field("query", "Search cities", icon="search")
        return ui.page(
            "Add city",
            rows or [Empty("No such city", "globe")],
            head=Pad(search, sides=12, top=4, bottom=4),
        )

    # Timer -------------------------------------------------------------------------------------

    def new_timer(self, ui: Ui) -> Window:
        return ui.page("New timer", _timer_keys(ui))


def _alarms(ui: Ui) -> list[Widget]:
    alarms = sorted(ui.facts.all(Alarm), key=lambda alarm: (alarm.hour, alarm.minute, alarm.id))
    rows = [_alarm_row(ui, alarm) for alarm in alarms]
    return [Space(4), *rows, Space(72)] if rows else [Empty("No alarms", "alarm")]


def _alarm_row(ui: Ui, alarm: Alarm) -> AlarmRow:
    use_24_hour = ui.settings.use_24_hour
    return AlarmRow(
        time_text(alarm.hour, alarm.minute, use_24_hour),
        alarm_detail(alarm),
        alarm.enabled,
        alarm_switch(alarm, use_24_hour),
        on_tap=lambda: ui.go(
            "edit_alarm",
            alarm.id,
            hour=alarm.hour,
            minute=alarm.minute,
            label=alarm.label,
            days=alarm.days,
        ),
        on_hold=lambda: ui.go("alarm_menu", alarm.id),
        on_switch=_enabling(ui, alarm),
    )


def _enabling(ui: Ui, alarm: Alarm) -> Handler:
    return lambda: ui.facts.edit(alarm, enabled=not alarm.enabled)


def _delete_alarm(ui: Ui, alarm: Alarm) -> None:
    ui.facts.remove(alarm)
    ui.say("Alarm deleted")


def _keeping(ui: Ui, key: str, value: int | tuple[int, ...]) -> Handler:
    return lambda: ui.set(key, value)


def _hour_chips(ui: Ui, hour: int) -> list[Widget]:
    """Return the hours as a grid: 0 to 23, or 1 to 12 with AM and PM."""
    if ui.settings.use_24_hour:
        chips = [Chip(str(h), _keeping(ui, "hour", h), h == hour) for h in range(24)]
        return [Heading("Hour"), Pad(Grid(chips, 6, gap=6), top=0, bottom=0)]
    half = hour // 12 * 12
    hours = [(12, half), *((h, half + h) for h in range(1, 12))]
    chips = [Chip(str(shown), _keeping(ui, "hour", h), h == hour) for shown, h in hours]
    halves = [
        Chip(name, _keeping(ui, "hour", hour % 12 + 12 * late), late == hour // 12)
        for late, name in enumerate(("AM", "PM"))
    ]
    grid = Column([Grid(chips, 6, gap=6), Grid(halves, 2, gap=6)], gap=6)
    return [Heading("Hour"), Pad(grid, top=0, bottom=0)]


def _minute_chips(ui: Ui, minute: int) -> list[Widget]:
    chips = [Chip(f":{m:02d}", _keeping(ui, "minute", m), m == minute) for m in range(0, 60, 5)]
    return [Heading("Minute"), Pad(Grid(chips, 6, gap=6), top=0, bottom=0)]


def _day_chips(ui: Ui, days: tuple[int, ...]) -> list[Widget]:
    def toggled(day: int) -> tuple[int, ...]:
        return tuple(sorted({*days} ^ {day}))

    chips = [
        Chip(name, _keeping(ui, "days", toggled(day)), day in days) for day, name in enumerate(DAYS)
    ]
    return [Heading("Repeat"), Pad(Grid(chips, 4, gap=6), top=0, bottom=0)]


def _cities(ui: Ui) -> list[Widget]:
    settings: SystemSettings = ui.settings
    local = time_text(ui.now.hour, ui.now.minute, settings.use_24_hour)
    day = f"{ui.now:%A}, {ui.now.day} {ui.now:%B}"
    head = Column(
        [
            Text(local, "headline", align="centre"),
            Text(f"{settings.timezone} · {day}", "small", "muted", align="centre"),
        ],
        gap=2,
    )
    rows: list[Widget] = [_city_row(ui, city) for city in ui.facts.all(WorldCity)]
    return [Pad(head, top=16, bottom=12), *(rows or [Empty("No cities", "globe")]), Space(72)]


def _city_row(ui: Ui, city: WorldCity) -> ListRow:
    settings = ui.settings
    there = time_in(city.name, settings.timezone, ui.now)
    days = (there.date() - ui.now.date()).days
    day = {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}[days]

    def remove() -> None:
        ui.facts.remove(city)
        ui.say(f"{city.name} removed")

    return ListRow(
        city.name,
        f"{day}, {difference_text(city.name, settings.timezone)}",
        time_text(there.hour, there.minute, settings.use_24_hour),
        button=("trash", f"Remove {city.name}", remove),
    )


def _adding(ui: Ui, city: str) -> Handler:
    def add() -> None:
        ui.facts.add(WorldCity(name=city))
        ui.say(f"{city} added")

    return add


def _timers(ui: Ui) -> list[Widget]:
    timers = ui.facts.all(Timer)
    if not timers:
        return _timer_keys(ui)
    return [widget for timer in timers for widget in _timer(ui, timer)]


def _timer(ui: Ui, timer: Timer) -> list[Widget]:
    left = timer_left(timer, ui.now)
    paused = timer.ends is None

    def pause_or_go_on() -> None:
        if paused:
            ui.facts.edit(timer, ends=ui.now + timedelta(seconds=timer.left), left=0)
        else:
            ui.facts.edit(timer, ends=None, left=left)

    caption = "Paused" if paused else "Time is up" if not left else f"of {figures(timer.seconds)}"
    buttons = [
        Button("Cancel", lambda: ui.facts.remove(timer), "soft"),
        Button("Resume" if paused else "Pause", pause_or_go_on),
    ]
    dial = Dial(left / max(1, timer.seconds), figures(left), caption)
    return [Space(12), dial, Pad(Row(buttons, gap=12, align="spread"), sides=40, bottom=12)]


def _timer_keys(ui: Ui) -> list[Widget]:
    keyed = ui.text("keyed")
    padded = keyed.rjust(MAX_TIMER, "0")
    shown = f"{padded[:2]}h  {padded[2:4]}m  {padded[4:]}s"

    def pressing(key: str) -> Handler:
        return lambda: ui.set("keyed", (keyed + key).lstrip("0")[:MAX_TIMER])

    keys = [Key(key, pressing(key), high=50) for key in (*"123456789", "00", "0")]
    erase = Key("Erase", lambda: ui.set("keyed", keyed[:-1]), "soft", "backspace", high=50)
    seconds = int(padded[:2]) * 3600 + int(padded[2:4]) * 60 + int(padded[4:])
    chips = [Chip(f"{minutes} min", _preset(ui, minutes)) for minutes in PRESETS]
    start = Button("Start", lambda: _start(ui, seconds), enabled=seconds > 0, high=48)
    return [
        Pad(Text(shown, "headline", align="centre"), top=14, bottom=6),
        Pad(Grid(chips, 4, gap=6), sides=12, top=4, bottom=6),
        Pad(Grid([*keys, erase], 3, gap=8), sides=44, top=4, bottom=8),
        Pad(start, sides=44, top=4, bottom=12),
    ]


def _preset(ui: Ui, minutes: int) -> Handler:
    return lambda: ui.set("keyed", f"{minutes}00")


def _start(ui: Ui, seconds: int) -> None:
    ui.facts.add(Timer(seconds=seconds, ends=ui.now + timedelta(seconds=seconds)))
    ui.set("keyed", "")
    if ui.route.page == "new_timer":
        ui.back()


def _stopwatch(ui: Ui) -> list[Widget]:
    watch = ui.facts.one(Stopwatch)
    seconds = stopwatch_seconds(watch, ui.now)
    running = watch.since is not None

    def start_or_stop() -> None:
        if running:
            ui.facts.edit(watch, since=None, before=seconds)
        else:
            ui.facts.edit(watch, since=ui.now)

    def lap_or_reset() -> None:
        if running:
            ui.facts.edit(watch, laps=(*watch.laps, seconds))
        else:
            ui.facts.edit(watch, before=0, laps=())

    buttons = [
        Button("Lap" if running else "Reset", lap_or_reset, "soft", enabled=running or seconds > 0),
        Button("Stop" if running else "Start", start_or_stop),
    ]
    laps = list(zip(watch.laps, (0, *watch.laps), strict=False))
    rows = [
        ListRow(f"Lap {number}", f"+{figures(at - before)}", figures(at))
        for number, (at, before) in reversed(list(enumerate(laps, 1)))
    ]
    dial = Dial(seconds % 60 / 60, figures(seconds), f"{len(laps)} laps" if laps else "")
    return [Space(12), dial, Pad(Row(buttons, gap=12, align="spread"), sides=40), *rows]
