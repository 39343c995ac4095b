"""The places of Fennbrook, the town on the map; their positions are the same on every phone.

Avenues run north and south, streets east and west. A place is at the corner of an avenue and a
street, with a small offset. Coordinates are pixels of the town's picture; a pixel is five metres.
"""

from __future__ import annotations

from typing import NamedTuple

WIDTH, HEIGHT = 900, 1100
METRES = 5  # metres per pixel
AVENUES: dict[str, int] = {
    "Chestnut Avenue": 90,
    "Mill Avenue": 210,
    "Orchard Avenue": 330,
    "Fountain Avenue": 450,
    "Lantern Avenue": 570,
    "Quarry Avenue": 690,
    "Heron Avenue": 810,
}
STREETS: dict[str, int] = {
    "Brewer Street": 100,
    "Abbey Street": 225,
    "Clover Street": 350,
    "Market Street": 475,
    "Harbour Street": 600,
    "Linden Street": 725,
    "Foundry Street": 850,
    "Meadow Street": 975,
}


class Spot(NamedTuple):
    """A place: the indices of its avenue and street, and its offset from their corner."""

    name: str
    kind: str
    avenue: int
    street: int
    across: int = 0
    down: int = 0

    @property
    def point(self) -> tuple[int, int]:
        x = list(AVENUES.values())[self.avenue] + self.across
        return x, list(STREETS.values())[self.street] + self.down

    @property
    def address(self) -> str:
        number = 2 + (self.avenue * 14 + abs(self.across)) % 90
        return f"{number} {list(STREETS)[self.street]}"


KINDS: dict[str, tuple[str, str]] = {  # kind: (plural, icon)
    "Restaurant": ("Restaurants", "food"),
    "Café": ("Cafés", "coffee"),
    "Park": ("Parks", "leaf"),
    "Museum": ("Museums", "image"),
    "Shop": ("Shops", "bag"),
    "Hotel": ("Hotels", "bed"),
    "Station": ("Stations", "train"),
}

SPOTS: tuple[Spot, ...] = (
    Spot("The Copper Ladle", "Restaurant", 1, 1, 40, 12),
    Spot("Basil and Brine", "Restaurant", 3, 3, 38, 14),
    Spot("Noodle Harbour", "Restaurant", 5, 4, 45, 14),
    Spot("Casa Tomillo", "Restaurant", 2, 5, 30, 12),
    Spot("The Green Fork", "Restaurant", 4, 6, 44, 12),
    Spot("Saffron House", "Restaurant", 1, 4, 52, -14),
    Spot("Bean Street", "Café", 2, 2, 40, -14),
    Spot("The Sleepy Kettle", "Café", 4, 2, 36, 14),
    Spot("Crumb and Cup", "Café", 3, 5, 46, 14),
    Spot("Lantern Coffee", "Café", 4, 4, 30, -14),
    Spot("Paper Moon Café", "Café", 0, 3, 50, 14),
    Spot("Willow Tea Room", "Café", 5, 6, 44, -12),
    Spot("Abbey Gardens", "Park", 2, 1, 60, 62),
    Spot("Foxglove Park", "Park", 5, 2, 60, 62),
    Spot("Riverside Green", "Park", 0, 5, 60, 62),
    Spot("Quarry Hill", "Park", 5, 0, 60, 62),
    Spot("Miller's Field", "Park", 2, 6, 60, 62),
    Spot("Museum of Clocks", "Museum", 3, 2, 44, -14),
    Spot("Fennbrook Gallery", "Museum", 2, 3, 44, -14),
    Spot("Railway Museum", "Museum", 5, 5, 46, 14),
    Spot("Museum of Salt", "Museum", 1, 6, 46, -14),
    Spot("House of Glass", "Museum", 0, 1, 46, 14),
    Spot("Inkwell Books", "Shop", 3, 4, 30, 14),
    Spot("Tinker Hardware", "Shop", 1, 2, 46, 14),
    Spot("Daisy Flowers", "Shop", 2, 4, 46, 14),
    Spot("Second Spin Records", "Shop", 4, 5, 36, -14),
    Spot("Northside Grocery", "Shop", 3, 0, 46, 14),
    Spot("Pedal Works", "Shop", 4, 7, 46, -14),
    Spot("Hotel Meridian", "Hotel", 3, 1, 46, -14),
    Spot("The Heron Inn", "Hotel", 5, 7, 40, -14),
    Spot("Millhouse Hotel", "Hotel", 0, 7, 52, -12),
    Spot("Grand Fenn", "Hotel", 4, 3, 48, -14),
    Spot("Central Station", "Station", 3, 3),
    Spot("Brewer Street Station", "Station", 3, 0),
    Spot("Abbey Station", "Station", 1, 1),
    Spot("Orchard Station", "Station", 2, 2),
    Spot("Heron Station", "Station", 6, 2),
    Spot("Mill Station", "Station", 1, 3),
    Spot("Quarry Station", "Station", 5, 3),
    Spot("Harbour Station", "Station", 4, 4),
    Spot("Linden Station", "Station", 3, 5),
    Spot("Foundry Station", "Station", 5, 6),
    Spot("Meadow Station", "Station", 1, 7),
    Spot("Chestnut Station", "Station", 0, 6),
)
SPOT_OF: dict[str, Spot] = {spot.name: spot for spot in SPOTS}
