"""Questions that the app Weather answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time

from phonesim.apps.weather import WeatherSettings
from phonesim.contents.forecasts import degrees
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number, states_time
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.weather import (
    CITY_NAMES,
    FORECAST_DAYS,
    day_of,
    forecast_of,
    label_of,
    names_condition,
    on,
    open_day,
    put_city,
)
from phonesim.tasks.moves import GoBack, Move, Press, Say
from phonesim.tasks.template import Template, View


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
        "What will the weather be like in {city} {on_day}, and what is the low?",
        "What is the forecast for {city} {on_day}? Tell me the sky and the lowest temperature",
        "Look up how the sky will be in {city} {on_day} and how cold it will get",
    )
    city: str = parameter(CITY_NAMES)
    day: str = parameter(FORECAST_DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": on(self.day)}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)

    def _low(self, view: View) -> int:
        low = forecast_of(view, self.city, self.day).low
        return degrees(low, view.one(WeatherSettings).fahrenheit)

    def missing(self, start: View, end: View) -> str | None:
        condition, low = forecast_of(start, self.city, self.day).condition, self._low(start)
        right = names_condition(end.answer, condition) and states_number(end.answer, low)
        return None if right else f"the answer {end.answer!r} does not say {condition!r} and {low}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_day(start, self.city, self.day)
        yield Say(f"{forecast_of(start, self.city, self.day).condition}, {self._low(start)}°")


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
        "Which will be warmer {on_day}, {city} or {other}? Give me its high as well",
        "Will it be warmer in {city} or in {other} {on_day}? Name the city and its high",
        "Compare the highs of {city} and {other} {on_day}: tell me the warmer city and its high",
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

    def _highs(self, view: View) -> dict[str, int]:
        return {city: forecast_of(view, city, self.day).high for city in (self.city, self.other)}

    def _warmer(self, view: View) -> set[str]:
        highs = self._highs(view)
        return {city for city, high in highs.items() if high == max(highs.values())}

    def _high(self, view: View) -> int:
        return degrees(max(self._highs(view).values()), view.one(WeatherSettings).fahrenheit)

    def missing(self, start: View, end: View) -> str | None:
        both, high = (self.city, self.other), self._high(start)
        named = any(mentions(end.answer, city, both) for city in self._warmer(start))
        right = named and states_number(end.answer, high)
        return None if right else f"the answer {end.answer!r} is not the warmer city with {high}"

    def solve(self, start: View) -> Iterable[Move]:
        label = label_of(day_of(self.day, start.now), start.now)
        yield from open_day(start, self.city, self.day)
        yield GoBack()
        yield GoBack()
        yield Press(self.other)
        yield Press(label)
        yield Say(f"{min(self._warmer(start))}, {self._high(start)}°")


TEMPLATES: tuple[type[Template], ...] = (
    HighOnDay,
    ConditionOnDay,
    Sunrise,
    WarmerCity,
)
