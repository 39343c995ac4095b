"""The records of Gallery: photos, albums, and the initial ones on a new phone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from phonesim.facts import Facts


@dataclass(frozen=True, slots=True)
class Album:
    """A named collection of photos."""

    id: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo. `picture` is its picture key. Deleted ones stay, `trashed`, until they are wiped."""

    id: int = 0
    title: str = ""
    picture: str = "photo:beach"
    taken: datetime = datetime(2026, 1, 1)
    place: str = ""
    albums: tuple[int, ...] = ()
    favourite: bool = False
    trashed: bool = False


FIRST_PHOTOS = (  # title and scene
    ("Pier in the fog", "lake"), ("Sailing day", "boat"), ("Harbour at noon", "boat"),
    ("Pine forest", "forest"), ("Breakfast table", "food"), ("Snowy roofs", "snow"),
    ("Palm trees", "sunset"), ("Yellow bloom", "flower"), ("Curious cat", "cat"),
    ("City from above", "city"), ("Summit at dawn", "mountain"), ("Full moon", "night"),
    ("Green hills", "meadow"), ("Grandpa's car", "car"), ("Aunt Rosa", "portrait"),
    ("Waiting dog", "dog"), ("Cake with candles", "cake"), ("Sand and sea", "beach"),
    ("Morning coffee", "coffee"), ("Old farmhouse", "house"), ("Rental papers", "document"),
    ("Deep woods", "forest"), ("Night skyline", "night"), ("Green salad", "food"),
)  # fmt: skip
PLACES = (
    "Lisbon", "Turin", "Bergen", "Gdansk", "Porto", "Ghent", "Zadar", "Tartu", "Malmö", "Cádiz",
    "Graz", "Nantes", "Vilnius", "Bath",
)  # fmt: skip
FIRST_ALBUMS = ("Summer trip", "Family", "Food")


def furnish_photos(facts: Facts, rng: random.Random, now: datetime) -> None:
    """Add two dozen photos of the last months, some in albums, two in the trash."""
    albums = [facts.add(Album(name=name)).id for name in FIRST_ALBUMS]
    chosen = rng.sample(FIRST_PHOTOS, 20)
    for index, (title, scene) in enumerate(chosen):
        facts.add(
            Photo(
                title=title,
                picture=picture_key(title, scene),
                taken=some_moment(rng, now),
                place=rng.choice(PLACES),
                albums=(rng.choice(albums),) if rng.random() < 0.4 else (),
                favourite=rng.random() < 0.2,
                trashed=index >= 18,
            )
        )


def picture_key(title: str, scene: str) -> str:
    """Return the picture key: the scene decides what is seen, the title varies its details."""
    return f"photo:{scene} {title}"


def some_moment(rng: random.Random, now: datetime) -> datetime:
    """Return a random minute of the last eight months."""
    moment = now - timedelta(minutes=rng.randrange(60, 60 * 24 * 240))
    return moment.replace(second=0, microsecond=0)
