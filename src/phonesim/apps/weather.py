"""Weather: saved cities, their weather now, the next hours and the next seven days."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import ClassVar

from phonesim.app import App, Ui, Window
from phonesim.contents.cities import CITIES, CITY_OF
from phonesim.contents.forecasts import (
    ICONS,
    Day,
    condition_at,
    day_forecast,
    degrees,
    temperature,
    week,
)
from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.theme import Theme
from phonesim.facts import Facts
from phonesim.scene import Handler, Scene
from phonesim.toolkit.boxes import Card, Column, Grid, Pad, Row
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Text
from phonesim.toolkit.widget import Size, Widget

HOURS = 6  # of the hourly forecast; as many as fit side by side
SKIES: dict[str, Color] = {
    "Sunny": (54, 122, 200),
    "Partly cloudy": (76, 124, 178),
    "Cloudy": (98, 114, 134),
    "Fog": (116, 124, 132),
    "Rain": (68, 88, 118),
    "Thunderstorm": (66, 62, 100),
    "Snow": (112, 138, 168),
    "Windy": (66, 128, 140),
}
NIGHT: Color = (38, 46, 84)
SOFT_WHITE: Color = (228, 234, 242)


@dataclass(frozen=True, slots=True)
class SavedCity:
    """A city on the first page."""

    id: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class WeatherSettings:
    """The unit, and the seed of this phone's weather. There is one record."""

    SINGLE: ClassVar[bool] = True
    id: int = 0
    fahrenheit: bool = False
    seed: int = 0


class WeatherApp(App):
    """A list of saved cities, and a page for each with hours, days and details."""

    name = "Weather"
    icon = "weather"
    color = (44, 128, 196)
    kinds = (SavedCity, WeatherSettings)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        facts.add(WeatherSettings(fahrenheit=rng.random() < 0.3, seed=rng.randrange(10**6)))
        for city in rng.sample(CITIES, 4):
            facts.add(SavedCity(name=city.name))

    def home(self, ui: Ui) -> Window:
        cities = ui.facts.all(SavedCity)
        if ui.version == 2:
            body: list[Widget] = [_city_row(ui, city) for city in cities]
        else:
            body = [Pad(_city_card(ui, city), sides=12, top=5, bottom=5) for city in cities]
        return ui.page(
            "Weather",
            body or [Empty("No cities yet", "weather")],
            actions=[IconButton("settings", "Weather settings", lambda: ui.go("settings"))],
            primary=("plus", "Add city", lambda: ui.go("add_city")),
        )

    def city(self, ui: Ui, city_id: int) -> Window:
        saved = ui.facts.get(SavedCity, city_id)
        days = week(ui.facts.one(WeatherSettings).seed, saved.name, ui.now)
        parts: list[list[Widget]] = [
            [Pad(_now_card(ui, saved.name, days[0]), sides=12)],
            [Pad(Card(_hours(ui, saved.name)), sides=12)],
            [Heading("7-day forecast"), *(_day_row(ui, saved.name, day) for day in days)],
            [Heading("Details"), Pad(_details(days[0]), sides=12, top=4, bottom=16)],
        ]
        if ui.version == 3:  # version 3 of the app has the details before the days
            parts.insert(2, parts.pop())
        remove = IconButton("trash", "Remove city", lambda: ui.go("confirm_remove", city_id))
        return ui.page(saved.name, [w for part in parts for w in part], actions=[remove])

    def day(self, ui: Ui, city: str, on: str) -> Window:
        day = day_forecast(ui.facts.one(WeatherSettings).seed, city, date.fromisoformat(on))
        head = Column(
            [
                Text(f"{day.date:%A}, {day.date.day} {day.date:%B}", "body", SOFT_WHITE),
                Row([Icon(ICONS[day.condition], 44, WHITE), Text(day.condition, "title", WHITE)]),
                Text(f"High {_shown(ui, day.high)}", "headline", WHITE),
                Text(f"Low {_shown(ui, day.low)}", "body", SOFT_WHITE),
            ],
            gap=6,
        )
        card = Card(head, pad=16, color=SKIES[day.condition])
        return ui.page(city, [Pad(card, sides=12), Pad(_details(day), sides=12)])

    # Cities and settings -----------------------------------------------------------------------

    def city_menu(self, ui: Ui, city_id: int) -> Window:
        city = ui.facts.get(SavedCity, city_id)
        return ui.sheet(city.name, {"Remove": lambda: ui.go("confirm_remove", city_id)})

    def confirm_remove(self, ui: Ui, city_id: int) -> Window:
        city = ui.facts.get(SavedCity, city_id)

        def remove() -> None:
            ui.facts.remove(city)
            ui.say(f"{city.name} removed")

        text = f"{city.name} will no longer be on your list."
        return ui.dialog("Remove city?", text, {"Cancel": None, "Remove": remove})

    def add_city(self, ui: Ui) -> Window:
        query = ui.text("query").casefold().strip()
        have = {city.name for city in ui.facts.all(SavedCity)}

        def adding(name: str) -> Handler:
            def add() -> None:
                if name not in have:
                    ui.facts.add(SavedCity(name=name))
                ui.back()
                ui.say(f"{name} is already on your list" if name in have else f"{name} added")

            return add

        rows: list[Widget] = [
            ListRow(
                city.name,
                city.country,
                icon="location",
                trailing="Added" if city.name in have else "",
                on_tap=adding(city.name),
            )
            for city in CITIES
            if query in f"{city.name} {city.country}".casefold()
        ]
        return ui.page(
            "Add city",
            rows or [Empty("No city of that name", "search")],
            head=Pad(ui.field("query", "Search city", icon="search"), sides=12, top=4, bottom=4),
        )

    def settings(self, ui: Ui) -> Window:
        fahrenheit = ui.facts.one(WeatherSettings).fahrenheit

        def choosing(value: bool) -> Handler:
            return lambda: ui.facts.change(WeatherSettings, fahrenheit=value)

        return ui.page(
            "Weather settings",
            [
                Heading("Temperature unit"),
                ListRow("Celsius", "°C", radio=not fahrenheit, on_tap=choosing(False)),
                ListRow("Fahrenheit", "°F", radio=fahrenheit, on_tap=choosing(True)),
            ],
        )


def _shown(ui: Ui, celsius: int) -> str:
    return f"{degrees(celsius, ui.facts.one(WeatherSettings).fahrenheit)}°"


def _now(ui: Ui, city: str) -> tuple[str, str]:
    """Return the temperature and the condition in a city at this hour."""
    seed = ui.facts.one(WeatherSettings).seed
    return _shown(ui, temperature(seed, city, ui.now)), condition_at(seed, city, ui.now)


def _sky(ui: Ui, condition: str) -> Color:
    return SKIES[condition] if 6 <= ui.now.hour < 21 else NIGHT


def _city_card(ui: Ui, saved: SavedCity) -> Widget:
    warm, condition = _now(ui, saved.name)
    words = Column(
        [
            Text(saved.name, "title", WHITE, max_lines=1),
            Text(condition, "small", SOFT_WHITE, max_lines=1),
        ],
        gap=3,
    )
    return Card(
        Row([Icon(ICONS[condition], 36, WHITE), words, Text(warm, "headline", WHITE)], 14, 1),
        label=saved.name,
        on_tap=lambda: ui.go("city", saved.id),
        on_hold=lambda: ui.go("city_menu", saved.id),
        pad=14,
        color=_sky(ui, condition),
    )


def _city_row(ui: Ui, saved: SavedCity) -> Widget:
    warm, condition = _now(ui, saved.name)
    return ListRow(
        saved.name,
        condition,
        trailing=warm,
        icon=ICONS[condition],
        on_tap=lambda: ui.go("city", saved.id),
        on_hold=lambda: ui.go("city_menu", saved.id),
        bold=True,
    )


def _now_card(ui: Ui, city: str, today: Day) -> Widget:
    warm, condition = _now(ui, city)
    words = Column(
        [
            Text(f"{city}, {CITY_OF[city].country}", "small", SOFT_WHITE, max_lines=2),
            Text(f"Now {warm}", "headline", WHITE),
            Text(condition, "body", WHITE),
            Text(
                f"High {_shown(ui, today.high)}  Low {_shown(ui, today.low)}", "small", SOFT_WHITE
            ),
        ],
        gap=4,
    )
    row = Row([words, Icon(ICONS[condition], 84, WHITE)], stretch=0)
    return Card(row, pad=16, color=_sky(ui, condition))


@dataclass(slots=True)
class HourCell:
    """One hour: time, icon and temperature."""

    hour: str
    condition: str
    warm: str

    def size(self, theme: Theme, width: int) -> Size:
        return width, 2 * theme.small.line_height + 36

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        line = theme.small.line_height
        scene.centred_text((x, y, width, line), self.hour, theme.tiny, theme.muted)
        scene.icon(x + width // 2 - 12, y + line + 6, ICONS[self.condition], 24, theme.primary)
        scene.centred_text((x, y + line + 36, width, line), self.warm, theme.small)
        words = f"{self.condition}, {self.warm}"
        scene.element("text", self.hour, (x, y, width, height), detail=words)


def _hours(ui: Ui, city: str) -> Widget:
    seed, first = ui.facts.one(WeatherSettings).seed, ui.now.replace(minute=0, second=0)
    times = [first + timedelta(hours=ahead) for ahead in range(HOURS)]
    cells = [
        HourCell(
            "Now" if at == first else f"{at:%H:%M}",
            condition_at(seed, city, at),
            _shown(ui, temperature(seed, city, at)),
        )
        for at in times
    ]
    return Row(cells, gap=2, align="spread")


def _day_row(ui: Ui, city: str, day: Day) -> Widget:
    on = day.date.isoformat()
    return ListRow(
        "Today" if day.date == ui.now.date() else f"{day.date:%A}",
        day.condition,
        trailing=f"{_shown(ui, day.low)} / {_shown(ui, day.high)}",
        icon=ICONS[day.condition],
        on_tap=lambda: ui.go("day", city, on),
    )


def _details(day: Day) -> Widget:
    facts = (
        ("drop", "Humidity", f"{day.humidity}%"),
        ("wind", "Wind", f"{day.wind} km/h"),
        ("sunrise", "Sunrise", day.sunrise),
        ("down", "Sunset", day.sunset),
        ("rain", "Chance of rain", f"{day.rain_chance}%"),
        ("sun", "UV index", str(day.ultraviolet)),
    )
    cells = [
        Card(
            Row(
                [
                    Icon(icon, 22, "primary"),
                    Column([Text(label, "tiny", "muted", 1), Text(value, "strong")], gap=2),
                ],
                gap=10,
                stretch=1,
            ),
            pad=10,
        )
        for icon, label, value in facts
    ]
    return Grid(cells, 2)
