"""Cities whose weather can be looked up, each with its own climate."""

from __future__ import annotations

from typing import NamedTuple


class City(NamedTuple):
    """A city; temperatures in °C are the averages of its coldest and its warmest month."""

    name: str
    country: str
    winter: int
    summer: int
    rain: float  # share of days with rain or snow
    wind: int  # km/h on an ordinary day
    south: bool = False  # south of the equator: January is summer
    latitude: int = 45
    longitude: int = 0  # degrees east


CITIES: tuple[City, ...] = (
    City("Amsterdam", "Netherlands", 4, 18, 0.45, 20, latitude=52, longitude=5),
    City("Athens", "Greece", 10, 29, 0.15, 13, latitude=38, longitude=24),
    City("Auckland", "New Zealand", 11, 20, 0.4, 18, True, 37, 175),
    City("Berlin", "Germany", 1, 20, 0.35, 15, latitude=52, longitude=13),
    City("Bogota", "Colombia", 13, 15, 0.5, 9, latitude=5, longitude=-74),
    City("Buenos Aires", "Argentina", 11, 25, 0.3, 14, True, 35, -58),
    City("Cairo", "Egypt", 14, 29, 0.03, 12, latitude=30, longitude=31),
    City("Cape Town", "South Africa", 13, 22, 0.2, 22, True, 34, 18),
    City("Chicago", "United States", -4, 24, 0.35, 18, latitude=42, longitude=-88),
    City("Copenhagen", "Denmark", 1, 18, 0.4, 21, latitude=56, longitude=13),
    City("Dublin", "Ireland", 5, 16, 0.5, 22, latitude=53, longitude=-6),
    City("Hanoi", "Vietnam", 17, 30, 0.4, 9, latitude=21, longitude=106),
    City("Helsinki", "Finland", -5, 18, 0.4, 15, latitude=60, longitude=25),
    City("Istanbul", "Turkey", 6, 25, 0.3, 17, latitude=41, longitude=29),
    City("Lima", "Peru", 16, 23, 0.05, 12, True, 12, -77),
    City("Lisbon", "Portugal", 12, 24, 0.2, 16, latitude=39, longitude=-9),
    City("Madrid", "Spain", 6, 26, 0.15, 10, latitude=40, longitude=-4),
    City("Melbourne", "Australia", 10, 21, 0.35, 16, True, 38, 145),
    City("Mexico City", "Mexico", 14, 19, 0.35, 8, latitude=19, longitude=-99),
    City("Montreal", "Canada", -9, 22, 0.4, 14, latitude=46, longitude=-74),
    City("Mumbai", "India", 24, 29, 0.35, 11, latitude=19, longitude=73),
    City("Nairobi", "Kenya", 17, 20, 0.25, 13, True, 1, 37),
    City("Oslo", "Norway", -4, 18, 0.4, 10, latitude=60, longitude=11),
    City("Prague", "Czechia", 0, 20, 0.35, 12, latitude=50, longitude=14),
    City("Reykjavik", "Iceland", 0, 11, 0.5, 24, latitude=64, longitude=-22),
    City("Rome", "Italy", 8, 26, 0.2, 11, latitude=42, longitude=13),
    City("Seoul", "South Korea", -2, 26, 0.3, 9, latitude=38, longitude=127),
    City("Singapore", "Singapore", 27, 28, 0.5, 8, latitude=1, longitude=104),
    City("Stockholm", "Sweden", -2, 19, 0.35, 13, latitude=59, longitude=18),
    City("Tokyo", "Japan", 6, 27, 0.35, 12, latitude=36, longitude=140),
    City("Vienna", "Austria", 1, 22, 0.3, 14, latitude=48, longitude=16),
    City("Zurich", "Switzerland", 1, 20, 0.4, 9, latitude=47, longitude=9),
)

CITY_OF: dict[str, City] = {city.name: city for city in CITIES}
