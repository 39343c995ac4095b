"""Tasks in the app Weather, which is held out: no training task uses it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from phonesim.apps.notes import Note
from phonesim.apps.weather import SavedCity, WeatherSettings
from phonesim.contents.cities import CITIES
from phonesim.contents.forecasts import CONDITIONS, Day, day_forecast
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press, Toggle
from phonesim.tasks.template import Template, View

CITY_NAMES = Domain("cities", tuple(city.name for city in CITIES))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FORECAST_DAYS = Domain("forecast days", ("tomorrow", "the day after tomorrow", *WEEKDAYS))
UNITS = Domain("temperature units", ("Celsius", "Fahrenheit", "°C", "°F"))
ADJECTIVES = {"Rain": "rainy", "Snow": "snowy", "Fog": "foggy", "Thunderstorm": "thunderstorms"}
NOTE_TITLES = Domain(
    "weather notes",
    ("Weather for the trip", "Forecast", "What to wear", "Before I leave", "Sky", "Umbrella?"),
)


def day_of(words: str, now: datetime) -> date:
    """Return tomorrow, the day after it, or the next day with that weekday, today included."""
    if words in WEEKDAYS:
        ahead = (WEEKDAYS.index(words) - now.weekday()) % 7
    else:
        ahead = 1 if words == "tomorrow" else 2
    return now.date() + timedelta(days=ahead)


def on(words: str) -> str:
    return f"on {words}" if words in WEEKDAYS else words


def label_of(day: date, now: datetime) -> str:
    """Return the app's label for a day."""
    return "Today" if day == now.date() else WEEKDAYS[day.weekday()]


def forecast_of(view: View, city: str, words: str) -> Day:
    return day_forecast(view.one(WeatherSettings).seed, city, day_of(words, view.now))


def names_condition(said: str | None, condition: str) -> bool:
    """Return whether the answer names this weather, as a noun or an adjective, and no other."""
    forms = {name: (name, ADJECTIVES.get(name, name)) for name in CONDITIONS}
    others = [form for name in CONDITIONS if name != condition for form in forms[name]]
    return any(mentions(said, form, others) for form in forms[condition])


def put_city(facts: Facts, name: str) -> None:
    if facts.find(SavedCity, lambda c: c.name == name) is None:
        facts.add(SavedCity(name=name))


def open_day(start: View, city: str, words: str) -> Iterable[Move]:
    yield Open("Weather")
    yield Press(city)
    yield Press(label_of(day_of(words, start.now), start.now))


@dataclass(frozen=True)
class AddCity(Template):
    name = "weather.add_city"
    apps = ("Weather",)
    difficulty = "medium"
    phrasings = (
        "Add {city} to the cities in Weather",
        "I want to see the weather in {city} from now on. Add the city to my list",
        "Put {city} on my list in the weather app",
    )
    touches = (SavedCity,)
    city: str = parameter(CITY_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(SavedCity, lambda c: c.name == self.city)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, SavedCity, name=self.city)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Weather")
        yield Press("Add city")
        yield Fill("Search city", self.city)
        yield Press(self.city, "row")


@dataclass(frozen=True)
class RemoveCity(Template):
    name = "weather.remove_city"
    apps = ("Weather",)
    difficulty = "medium"
    phrasings = (
        "Remove {city} from the weather app",
        "I no longer care about the weather in {city}. Take it off my list",
        "Delete {city} from my saved cities in Weather",
    )
    touches = (SavedCity,)
    city: str = parameter(CITY_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        for name in (self.city, *rng.sample(CITY_NAMES.train, 3)):
            put_city(facts, name)

    def missing(self, start: View, end: View) -> str | None:
        saved = next(city for city in start.all(SavedCity) if city.name == self.city)
        return only_removed(start, end, SavedCity, saved.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Weather")
        yield Press(self.city)
        yield Press("Remove city")
        yield Press("Remove")


@dataclass(frozen=True)
class SetUnit(Template):
    name = "weather.unit"
    apps = ("Weather",)
    difficulty = "medium"
    phrasings = (
        "Switch the weather app to {unit}, then open the page of {city} in it",
        "Show me the weather in {city} in {unit}: change the unit in Weather, then open the city",
        "I prefer {unit}. Change the unit in Weather and show me {city} there",
    )
    touches = (WeatherSettings,)
    unit: str = parameter(UNITS)
    city: str = parameter(CITY_NAMES)

    @property
    def _fahrenheit(self) -> bool:
        return self.unit in ("Fahrenheit", "°F")

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.change(WeatherSettings, fahrenheit=not self._fahrenheit)
        put_city(facts, self.city)

    def missing(self, start: View, end: View) -> str | None:
        unit = start.one(WeatherSettings).id
        wrong = only_changed(start, end, WeatherSettings, unit, fahrenheit=self._fahrenheit)
        saved = next(city.id for city in start.all(SavedCity) if city.name == self.city)
        if not wrong and (end.app, end.page, end.args) != ("Weather", "city", (saved,)):
            return f"the page of {self.city} is not in front"
        return wrong

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Weather")
        yield Press("Weather settings")
        yield Toggle("Fahrenheit" if self._fahrenheit else "Celsius", True)
        yield GoBack()
        yield Press(self.city)


@dataclass(frozen=True)
class NoteForecast(Template):
    name = "weather.note_forecast"
    apps = ("Weather", "Notes")
    difficulty = "hard"
    phrasings = (
        'Look up the weather in {city} tomorrow and write it into a note titled "{title}"',
        'Make a note "{title}" whose text is what the sky will be like in {city} tomorrow',
        'What will the weather be in {city} tomorrow? Note it under the title "{title}"',
    )
    touches = (Note,)
    city: str = parameter(CITY_NAMES)
    title: str = parameter(NOTE_TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)

    def missing(self, start: View, end: View) -> str | None:
        wrong = only_added(start, end, Note, title=self.title)
        if wrong:
            return wrong
        condition = forecast_of(start, self.city, "tomorrow").condition
        text = end.all(Note)[-1].text
        right = names_condition(text, condition)
        return None if right else f"the note says {text!r}, not {condition!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Weather")
        yield Press(self.city)
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.title)
        yield Fill("Text", forecast_of(start, self.city, "tomorrow").condition)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    AddCity,
    RemoveCity,
    SetUnit,
    NoteForecast,
)
