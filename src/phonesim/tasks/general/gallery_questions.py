"""Questions that the app Gallery answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.photos import Photo
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.days import date_words, states_date
from phonesim.tasks.general.gallery import (
    ALBUMS,
    PHOTOS,
    add_photo,
    album_called,
    ensure_album,
    photo_called,
)
from phonesim.tasks.moves import Move, Open, Press, Say
from phonesim.tasks.template import Template, View

TOWNS = Domain(
    "photo places",
    (
        "Trieste", "Aarhus", "Kraków", "Bilbao", "Lucerne", "Riga", "Salerno", "Utrecht", "York",
        "Split", "Toulouse", "Oulu",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class WhereWasItTaken(Template):
    name = "gallery.ask_place"
    apps = ("Gallery",)
    difficulty = "easy"
    phrasings = (
        'Where was the photo "{photo}" taken?',
        'In which town did I take the picture "{photo}"?',
        'Find out the place of the photo "{photo}" in Gallery',
    )
    photo: tuple[str, str] = parameter(PHOTOS)
    town: str = parameter(TOWNS)

    def words(self) -> dict[str, str]:
        return {"photo": self.photo[0]}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_photo(facts, rng, self.photo, place=self.town)

    def missing(self, start: View, end: View) -> str | None:
        others = {photo.place for photo in start.all(Photo)}
        right = mentions(end.answer, self.town, others)
        return None if right else f"the answer should be {self.town}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press(self.photo[0])
        yield Press("Details")
        yield Say(self.town)


@dataclass(frozen=True)
class WhenWasItTaken(Template):
    name = "gallery.ask_date"
    apps = ("Gallery",)
    difficulty = "easy"
    phrasings = (
        'On which date was the photo "{photo}" taken?',
        'What is the date of the picture "{photo}" in Gallery?',
        'Tell me the day and the month in which I took "{photo}"',
    )
    photo: tuple[str, str] = parameter(PHOTOS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_photo(facts, rng, self.photo)

    def missing(self, start: View, end: View) -> str | None:
        day = photo_called(start, self.photo[0]).taken.date()
        right = states_date(end.answer, day)
        return None if right else f"the answer should be {date_words(day)}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press(self.photo[0])
        yield Press("Details")
        yield Say(date_words(photo_called(start, self.photo[0]).taken.date()))


@dataclass(frozen=True)
class HowManyPhotos(Template):
    name = "gallery.ask_count"
    apps = ("Gallery",)
    difficulty = "easy"
    phrasings = (
        'How many photos are in the album "{album}"?',
        'Count the pictures in my album "{album}"',
        'How many pictures did I put into the album "{album}" in Gallery?',
    )
    album: str = parameter(ALBUMS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        album = ensure_album(facts, self.album)
        for photo in rng.sample(PHOTOS.train, rng.randrange(2, 13)):
            add_photo(facts, rng, photo, albums=(album.id,))

    def _count(self, view: View) -> int:
        album = album_called(view, self.album).id
        return sum(album in photo.albums and not photo.trashed for photo in view.all(Photo))

    def missing(self, start: View, end: View) -> str | None:
        count = self._count(start)
        right = states_number(end.answer, count)
        return None if right else f"the answer should be {count}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press("Albums", role="tab")
        yield Press(self.album)
        yield Say(f"{self._count(start)} photos")


TEMPLATES: tuple[type[Template], ...] = (WhereWasItTaken, WhenWasItTaken, HowManyPhotos)
