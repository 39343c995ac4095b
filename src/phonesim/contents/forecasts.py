"""The weather of a city on a day: a pure function of the phone's weather seed, city and date.

Forecasts are not stored, so a judge computes the same numbers that the app shows.
"""

from __future__ import annotations

import math
import random
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from phonesim.contents.cities import CITY_OF, City

DAYS = 7
ICONS = {
    "Clear": "moon",  # of hours only: the night of a sunny day
    "Sunny": "sun",
    "Partly cloudy": "weather",
    "Cloudy": "cloud",
    "Fog": "fog",
    "Rain": "rain",
    "Thunderstorm": "storm",
    "Snow": "snow",
    "Windy": "wind",
}
CONDITIONS = tuple(condition for condition in ICONS if condition != "Clear")


class Day(NamedTuple):
    """A day's weather; temperatures in whole °C, wind in km/h."""

    date: date
    condition: str
    low: int
    high: int
    humidity: int  # per cent
    wind: int
    rain_chance: int  # per cent
    ultraviolet: int  # index
    sunrise: str
    sunset: str


@lru_cache(maxsize=2048)
def day_forecast(seed: int, city: str, on: date) -> Day:
    """Return the weather of that city on that day."""
    rng, place = random.Random(f"weather/{seed}/{city}/{on}"), CITY_OF[city]
    usual = _usual(place, on) + rng.gauss(0, 2.5)
    condition = _condition(rng, place, usual)
    spread = rng.uniform(2, 4) if condition in ("Rain", "Fog", "Cloudy") else rng.uniform(3, 6)
    wet = condition in ("Rain", "Snow", "Thunderstorm")
    wind = round(place.wind * rng.uniform(0.6, 1.3)) + (25 if condition == "Windy" else 0)
    noon_to_dusk = _half_day(place, on)
    return Day(
        date=on,
        condition=condition,
        low=round(usual - spread),
        high=round(usual + spread) + 1,
        humidity=rng.randrange(65, 96) if wet or condition == "Fog" else rng.randrange(30, 75),
        wind=wind,
        rain_chance=rng.randrange(60, 100, 5) if wet else rng.randrange(0, 35, 5),
        ultraviolet=max(0, round(usual / 4 + rng.uniform(-1, 2))),
        sunrise=_clock(12.5 - noon_to_dusk),
        sunset=_clock(12.5 + noon_to_dusk),
    )


def week(seed: int, city: str, now: datetime) -> list[Day]:
    """Return today and the six days after."""
    return [day_forecast(seed, city, now.date() + timedelta(days=ahead)) for ahead in range(DAYS)]


def temperature(seed: int, city: str, at: datetime) -> int:
    """Return the °C at that hour: lowest at 3:00, highest at 15:00."""
    day = day_forecast(seed, city, at.date())
    share = 0.5 + 0.5 * math.cos((at.hour - 15) / 24 * 2 * math.pi)
    return round(day.low + (day.high - day.low) * share)


def condition_at(seed: int, city: str, at: datetime) -> str:
    """Return an hour's condition: the day's or "Partly cloudy"; a sunny day's night is "Clear"."""
    day = day_forecast(seed, city, at.date())
    calm = random.Random(f"hour/{seed}/{city}/{at.date()}/{at.hour}").random() < 0.3
    if day.condition == "Sunny":
        return "Sunny" if 6 <= at.hour < 21 else "Clear"
    return "Partly cloudy" if calm else day.condition


def degrees(celsius: int, fahrenheit: bool) -> int:
    """Convert °C to the unit that the app shows."""
    return round(celsius * 9 / 5 + 32) if fahrenheit else celsius


def _usual(place: City, on: date) -> float:
    warmest = 15 if place.south else 197  # day of the year
    season = math.cos((on.timetuple().tm_yday - warmest) / 365 * 2 * math.pi)
    return (place.winter + place.summer) / 2 + (place.summer - place.winter) / 2 * season


def _condition(rng: random.Random, place: City, usual: float) -> str:
    if rng.random() < place.rain:
        if usual < 1:
            return "Snow"
        return "Thunderstorm" if usual > 17 and rng.random() < 0.3 else "Rain"
    return rng.choices(("Sunny", "Partly cloudy", "Cloudy", "Fog", "Windy"), (5, 4, 3, 0.7, 1.2))[0]


def _half_day(place: City, on: date) -> float:
    """Return the hours between noon and sunset."""
    tilt = 23.4 * math.cos((on.timetuple().tm_yday - 172) / 365 * 2 * math.pi)
    latitude = -place.latitude if place.south else place.latitude
    angle = -math.tan(math.radians(latitude)) * math.tan(math.radians(tilt))
    return math.degrees(math.acos(min(0.95, max(-0.95, angle)))) / 15


def _clock(hours: float) -> str:
    minutes = round(hours * 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
