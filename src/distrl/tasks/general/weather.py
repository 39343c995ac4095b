"""Tasks in the app Weather. No training task uses it: they test an app never seen before."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from distrl.devices.simulated.apps.cities import CITIES
from distrl.devices.simulated.apps.forecasts import CONDITIONS, Day, day_forecast, degrees
from distrl.devices.simulated.apps.notes import Note
from distrl.devices.simulated.apps.weather import SavedCity, WeatherSettings
from distrl.devices.simulated.facts import Facts
from distrl.tasks.answers import mentions, states_number
from distrl.tasks.domains import Domain, parameter
from distrl.tasks.general.days import states_time
from distrl.tasks.general.differences import only_added, only_changed, only_removed
from distrl.tasks.moves import Fill, GoBack, Move, Open, Press, Say, Toggle
from distrl.tasks.template import Template, View

CITY_NAMES = Domain("cities", tuple(city.name for city in CITIES))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FORECAST_DAYS = Domain("forecast days", ("tomorrow", "the day after tomorrow", *WEEKDAYS))
UNITS = Domain("temperature units", ("Celsius", "Fahrenheit", "°C", "°F"))
NOTE_TITLES = Domain(
    "weather notes",
    ("Weather for the trip", "Forecast", "What to wear", "Before I leave", "Sky", "Umbrella?"),
)


def day_of(words: str, now: datetime) -> date:
    """Tomorrow, the day after it, or the next day of that name from today on."""
    if words in WEEKDAYS:
        ahead = (WEEKDAYS.index(words) - now.weekday()) % 7
    else:
        ahead = 1 if words == "tomorrow" else 2
    return now.date() + timedelta(days=ahead)


def on(words: str) -> str:
    return f"on {words}" if words in WEEKDAYS else words


def label_of(day: date, now: datetime) -> str:
    """How the app calls a day."""
    return "Today" if day == now.date() else WEEKDAYS[day.weekday()]


def forecast_of(view: View, city: str, words: str) -> Day:
    return day_forecast(view.one(WeatherSettings).seed, city, day_of(words, view.now))


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
        put_city(facts, self.city)

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
    difficulty = "easy"
    phrasings = (
        "Show temperatures in {unit} in the weather app",
        "Switch Weather to {unit}",
        "I prefer {unit}. Change the unit in Weather",
    )
    touches = (WeatherSettings,)
    unit: str = parameter(UNITS)

    @property
    def _fahrenheit(self) -> bool:
        return self.unit in ("Fahrenheit", "°F")

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.change(WeatherSettings, fahrenheit=not self._fahrenheit)

    def missing(self, start: View, end: View) -> str | None:
        settings = start.one(WeatherSettings)
        return only_changed(start, end, WeatherSettings, settings.id, fahrenheit=self._fahrenheit)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Weather")
        yield Press("Weather settings")
        yield Toggle("Fahrenheit" if self._fahrenheit else "Celsius", True)


@dataclass(frozen=True)
class HighOnDay(Template):
    name = "weather.high_on_day"
    apps = ("Weather",)
    difficulty = "easy"
    phrasings = (
        "What is the highest temperature in {city} {on_day}?",
        "How warm will it get in {city} {on_day}? Look in Weather",
        "Tell me the forecast high for {city} {on_day}",
    )
    city: str = parameter(CITY_NAMES)
    day: str = parameter(FORECAST_DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": on(self.day)}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)

    def _high(self, view: View) -> int:
        high = forecast_of(view, self.city, self.day).high
        return degrees(high, view.one(WeatherSettings).fahrenheit)

    def missing(self, start: View, end: View) -> str | None:
        high = self._high(start)
        right = states_number(end.answer, high)
        return None if right else f"the answer {end.answer!r} does not say {high}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_day(start, self.city, self.day)
        yield Say(f"{self._high(start)}°")


@dataclass(frozen=True)
class ConditionOnDay(Template):
    name = "weather.condition_on_day"
    apps = ("Weather",)
    difficulty = "easy"
    phrasings = (
        "What will the weather be like in {city} {on_day}: sunny, rain, or what else?",
        "Which weather is forecast for {city} {on_day}?",
        "Look up what the sky will be like in {city} {on_day}",
    )
    city: str = parameter(CITY_NAMES)
    day: str = parameter(FORECAST_DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": on(self.day)}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)

    def missing(self, start: View, end: View) -> str | None:
        condition = forecast_of(start, self.city, self.day).condition
        right = mentions(end.answer, condition, CONDITIONS)
        return None if right else f"the answer {end.answer!r} does not say {condition!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_day(start, self.city, self.day)
        yield Say(forecast_of(start, self.city, self.day).condition)


@dataclass(frozen=True)
class Sunrise(Template):
    name = "weather.sunrise"
    apps = ("Weather",)
    difficulty = "easy"
    phrasings = (
        "When does the sun rise in {city} {on_day}?",
        "I want to see the sunrise in {city} {on_day}. At what time is it?",
        "At what time is sunrise {on_day} in {city}? Look in Weather",
    )
    city: str = parameter(CITY_NAMES)
    day: str = parameter(FORECAST_DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": on(self.day)}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)

    def missing(self, start: View, end: View) -> str | None:
        sunrise = forecast_of(start, self.city, self.day).sunrise
        right = states_time(end.answer, time.fromisoformat(sunrise))
        return None if right else f"the answer {end.answer!r} does not say {sunrise}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_day(start, self.city, self.day)
        yield Say(forecast_of(start, self.city, self.day).sunrise)


@dataclass(frozen=True)
class WarmerCity(Template):
    name = "weather.warmer_city"
    apps = ("Weather",)
    difficulty = "medium"
    phrasings = (
        "Which city will have the higher high {on_day}: {city} or {other}?",
        "Will it be warmer in {city} or in {other} {on_day}? Compare the highs in Weather",
        "Compare the forecast highs {on_day}: is {city} or {other} warmer?",
    )
    city: str = parameter(CITY_NAMES)
    other: str = parameter(CITY_NAMES)
    day: str = parameter(FORECAST_DAYS)

    def sensible(self) -> bool:
        return self.city != self.other

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": on(self.day)}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)
        put_city(facts, self.other)

    def _warmer(self, view: View) -> set[str]:
        highs = {c: forecast_of(view, c, self.day).high for c in (self.city, self.other)}
        return {city for city, high in highs.items() if high == max(highs.values())}

    def missing(self, start: View, end: View) -> str | None:
        both = (self.city, self.other)
        right = any(mentions(end.answer, city, both) for city in self._warmer(start))
        return None if right else f"the answer {end.answer!r} does not name the warmer city"

    def solve(self, start: View) -> Iterable[Move]:
        label = label_of(day_of(self.day, start.now), start.now)
        yield from open_day(start, self.city, self.day)
        yield GoBack()
        yield GoBack()
        yield Press(self.other)
        yield Press(label)
        yield Say(min(self._warmer(start)))


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
        right = mentions(text, condition, CONDITIONS)
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
    HighOnDay,
    ConditionOnDay,
    Sunrise,
    WarmerCity,
    NoteForecast,
)
