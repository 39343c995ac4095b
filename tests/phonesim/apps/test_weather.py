"""The app Weather, by taps."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.apps.weather import SKIES, SavedCity, WeatherSettings
from phonesim.contents.cities import CITIES
from phonesim.contents.forecasts import (
    CONDITIONS,
    day_forecast,
    degrees,
    temperature,
    week,
)
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Press, Reveal


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Weather"))
    return phone


def test_a_city_is_added_once_and_removed(phone: Phone, finger: Finger, use: Use) -> None:
    saved = {city.name for city in phone.facts.all(SavedCity)}
    new = next(city.name for city in CITIES if city.name not in saved)
    for _ in range(2):  # the second time it is there already
        use(Press("Add city"), Fill("Search city", new), Press(new, "row"))
    assert [city.name for city in phone.facts.all(SavedCity)].count(new) == 1
    use(Press(new), Press("Remove city"), Press("Remove"))
    assert {city.name for city in phone.facts.all(SavedCity)} == saved
    assert new not in finger.labels


def test_the_pages_show_what_the_judge_computes(phone: Phone, finger: Finger, use: Use) -> None:
    city, settings = phone.facts.all(SavedCity)[0].name, phone.facts.one(WeatherSettings)
    day = week(settings.seed, city, phone.now)[2]
    use(Press(city), Press(f"{day.date:%A}"))
    shown = finger.labels
    assert f"High {degrees(day.high, settings.fahrenheit)}°" in shown
    assert {day.condition, day.sunrise, f"{day.humidity}%"} <= shown


def test_the_unit_changes_every_number(phone: Phone, use: Use) -> None:
    settings = phone.facts.one(WeatherSettings)
    now = temperature(settings.seed, phone.facts.all(SavedCity)[0].name, phone.now)
    use(Press("Weather settings"), Press("Fahrenheit"), GoBack())
    use(Reveal(f"{round(now * 9 / 5 + 32)}°"))
    use(Press("Weather settings"), Press("Celsius"), GoBack(), Reveal(f"{now}°"))
    assert not phone.facts.one(WeatherSettings).fahrenheit


@pytest.mark.parametrize("city", [city.name for city in CITIES])
def test_a_year_of_weather_makes_sense(city: str) -> None:
    days = [day_forecast(7, city, date(2026, 1, 1) + timedelta(days=n)) for n in range(0, 365, 5)]
    assert all(day.low < day.high for day in days)
    assert all(day.condition in CONDITIONS and day.condition in SKIES for day in days)
    assert all("00:00" < day.sunrise < day.sunset < "24:00" for day in days)
    assert not any(day.condition == "Snow" and day.low > 3 for day in days)
