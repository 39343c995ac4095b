"""Tasks in the app Gallery."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, ClassVar

from distrl.records import Difficulty
from phonesim.contents.photos import Album, Photo, picture_key
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.days import today_of
from phonesim.tasks.general.differences import only_added, only_changed
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View, added

PHOTOS: Domain[tuple[str, str]] = Domain(  # title and scene
    "photos",
    (
        ("Beach at noon", "beach"), ("First snow", "snow"), ("Grey peak", "mountain"),
        ("Forest path", "forest"), ("Office towers", "city"), ("Latte art", "coffee"),
        ("Lake at dawn", "lake"), ("Spring meadow", "meadow"), ("Sunday lunch", "food"),
        ("White sails", "boat"), ("Single blossom", "flower"), ("Our kitten", "cat"),
        ("City at night", "night"), ("Burning sky", "sunset"), ("Grandma's house", "house"),
        ("New car", "car"), ("Happy dog", "dog"), ("Birthday cake", "cake"),
        ("Cousin Emil", "portrait"), ("Garage receipt", "document"),
    ),
    say=lambda photo: photo[0],
)  # fmt: skip
ALBUMS = Domain(
    "albums",
    (
        "Summer trip", "Family", "Food", "Cats and dogs", "Hiking", "Best of", "New flat",
        "Postcards", "Weekends", "Nature", "School", "Grandparents",
    ),
)  # fmt: skip
NEW_ALBUMS = Domain(
    "new albums",
    (
        "Winter", "Lisbon", "Birthday", "Wallpaper ideas", "For print", "Recipes", "Skies",
        "Bicycles", "Reunion", "Colours", "Doors", "Road trip",
    ),
)  # fmt: skip


def add_photo(
    facts: Facts,
    rng: random.Random,
    photo: tuple[str, str],
    *,
    place: str = "Leeds",
    favourite: bool = False,
    trashed: bool = False,
    albums: tuple[int, ...] = (),
) -> None:
    """Add a photo of the last weeks, so that it is near the top of the gallery."""
    day = today_of(facts) - timedelta(days=rng.randrange(1, 25))
    taken = datetime.combine(day, time(rng.randrange(7, 21), rng.randrange(60)))
    key = picture_key(*photo)
    facts.add(Photo(0, photo[0], key, taken, place, albums, favourite, trashed))


def ensure_album(facts: Facts, name: str) -> Album:
    return facts.find(Album, lambda album: album.name == name) or facts.add(Album(name=name))


def photo_called(view: View, title: str) -> Photo:
    return next(photo for photo in view.all(Photo) if photo.title == title)


def album_called(view: View, name: str) -> Album:
    return next(album for album in view.all(Album) if album.name == name)


@dataclass(frozen=True)
class FavouritePhoto(Template):
    name = "gallery.favourite"
    apps = ("Gallery",)
    difficulty: ClassVar[Difficulty] = "easy"
    phrasings = (
        'Mark the photo "{photo}" as a favourite',
        'Add the picture "{photo}" to my favourites in Gallery',
        'I love the photo "{photo}". Make it a favourite',
    )
    touches: ClassVar[tuple[type[Any], ...]] = (Photo,)
    photo: tuple[str, str] = parameter(PHOTOS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_photo(facts, rng, self.photo)

    def missing(self, start: View, end: View) -> str | None:
        photo = photo_called(start, self.photo[0])
        return only_changed(start, end, Photo, photo.id, favourite=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press(self.photo[0])
        yield Press("Add to favourites")


@dataclass(frozen=True)
class UnfavouritePhoto(FavouritePhoto):
    name = "gallery.unfavourite"
    held_out = True
    phrasings = (
        'Remove the photo "{photo}" from my favourites',
        'The picture "{photo}" should no longer be a favourite in Gallery',
        'Take "{photo}" off the favourites, but keep the photo',
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_photo(facts, rng, self.photo, favourite=True)

    def missing(self, start: View, end: View) -> str | None:
        photo = photo_called(start, self.photo[0])
        return only_changed(start, end, Photo, photo.id, favourite=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press(self.photo[0])
        yield Press("Remove from favourites")


@dataclass(frozen=True)
class DeletePhoto(FavouritePhoto):
    name = "gallery.delete"
    difficulty = "medium"
    phrasings = (
        'Delete the photo "{photo}"',
        'Move the picture "{photo}" in Gallery to the trash',
        'The photo "{photo}" came out badly. Please delete it',
    )

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Photo, photo_called(start, self.photo[0]).id, trashed=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press(self.photo[0])
        yield Press("Delete")
        yield Press("Delete")


@dataclass(frozen=True)
class RestorePhoto(FavouritePhoto):
    name = "gallery.restore"
    difficulty = "medium"
    phrasings = (
        'Restore the photo "{photo}" from the trash',
        'I want the deleted picture "{photo}" back in my gallery',
        'Get "{photo}" out of the trash in Gallery',
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_photo(facts, rng, self.photo, trashed=True)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Photo, photo_called(start, self.photo[0]).id, trashed=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press("Albums", role="tab")
        yield Press("Trash")
        yield Press(self.photo[0])
        yield Press("Restore")


@dataclass(frozen=True)
class CreateAlbum(Template):
    name = "gallery.create_album"
    apps = ("Gallery",)
    difficulty = "medium"
    phrasings = (
        'Create an album called "{album}" in Gallery',
        'Make a new photo album "{album}"',
        'I would like to have an album named "{album}" for my photos',
    )
    touches = (Album,)
    album: str = parameter(NEW_ALBUMS)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, Album, name=self.album)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press("Albums", role="tab")
        yield Press("New album")
        yield Fill("Album name", self.album)
        yield Press("Create")


@dataclass(frozen=True)
class AddToAlbum(FavouritePhoto):
    name = "gallery.add_to_album"
    difficulty = "medium"
    phrasings = (
        'Add the photo "{photo}" to the album "{album}"',
        'Put the picture "{photo}" into my album "{album}"',
        'In Gallery, "{photo}" should be in the album "{album}"',
    )
    album: str = parameter(ALBUMS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        ensure_album(facts, self.album)
        add_photo(facts, rng, self.photo)

    def missing(self, start: View, end: View) -> str | None:
        photo, album = photo_called(start, self.photo[0]), album_called(start, self.album)
        return only_changed(start, end, Photo, photo.id, albums=(album.id,))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press(self.photo[0])
        yield Press("Add to album")
        yield Press(self.album)


@dataclass(frozen=True)
class StartAlbum(FavouritePhoto):
    name = "gallery.start_album"
    difficulty = "hard"
    phrasings = (
        'Create an album "{album}" in Gallery and add the photo "{photo}" to it',
        'Put the picture "{photo}" into a new album called "{album}"',
        'Start a photo album named "{album}" with "{photo}" as its first photo',
    )
    touches = (Album, Photo)
    album: str = parameter(NEW_ALBUMS)

    def missing(self, start: View, end: View) -> str | None:
        wrong = only_added(start, end, Album, name=self.album)
        if wrong:
            return wrong
        album, photo = added(start, end, Album)[0], photo_called(start, self.photo[0])
        return only_changed(start, end, Photo, photo.id, albums=(album.id,))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Gallery")
        yield Press("Albums", role="tab")
        yield Press("New album")
        yield Fill("Album name", self.album)
        yield Press("Create")
        yield Press("Photos", role="tab")
        yield Press(self.photo[0])
        yield Press("Add to album")
        yield Press(self.album)


TEMPLATES: tuple[type[Template], ...] = (
    FavouritePhoto,
    UnfavouritePhoto,
    DeletePhoto,
    RestorePhoto,
    CreateAlbum,
    AddToAlbum,
    StartAlbum,
)
