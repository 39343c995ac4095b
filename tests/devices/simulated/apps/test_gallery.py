"""The app Gallery, by taps."""

from __future__ import annotations

from datetime import timedelta

import pytest

from distrl.devices.simulated.apps.photos import Album, Photo
from distrl.devices.simulated.drift import NO_DRIFT
from distrl.devices.simulated.phone import Phone
from distrl.records import FINAL_ACTIONS, OpenApp
from distrl.tasks.moves import Fill, Move, Press
from distrl.tasks.solver import Solver


def use(phone: Phone, *moves: Move) -> None:
    """Carry out the moves as a person would, by what the screen shows."""
    solver = Solver(moves)
    while not isinstance(action := solver.next(phone.elements()), FINAL_ACTIONS):
        phone.perform(action)


def labels(phone: Phone) -> set[str]:
    return {element.text for element in phone.elements()}


@pytest.fixture
def phone() -> Phone:
    phone = Phone(1, NO_DRIFT)
    phone.perform(OpenApp("Gallery"))
    return phone


def add(phone: Phone, title: str) -> Photo:
    taken = phone.now - timedelta(hours=2)
    photo = phone.facts.add(Photo(title=title, taken=taken, place="Tartu"))
    phone.refresh()
    return photo


def test_the_heart_can_be_given_and_taken(phone: Phone) -> None:
    photo = add(phone, "Dunes")
    use(phone, Press("Dunes"), Press("Add to favourites"))
    assert phone.facts.get(Photo, photo.id).favourite
    use(phone, Press("Remove from favourites"))
    assert phone.facts.get(Photo, photo.id) == photo


def test_a_deleted_photo_waits_in_the_trash(phone: Phone) -> None:
    photo = add(phone, "Dunes")
    use(phone, Press("Dunes"), Press("Delete"), Press("Delete"))
    assert "Dunes" not in labels(phone)
    assert phone.routes[-1].page == "home"
    use(phone, Press("Albums", role="tab"), Press("Trash"), Press("Dunes"), Press("Restore"))
    assert phone.facts.get(Photo, photo.id) == photo


def test_a_photo_goes_into_a_new_album(phone: Phone) -> None:
    photo = add(phone, "Dunes")
    use(phone, Press("Albums", role="tab"), Press("New album"), Fill("Album name", "Sand"))
    use(phone, Press("Create"), Press("Photos", role="tab"), Press("Dunes"))
    use(phone, Press("Add to album"), Press("Sand"))
    (album,) = phone.facts.where(Album, lambda each: each.name == "Sand")
    assert phone.facts.get(Photo, photo.id).albums == (album.id,)


def test_deleting_an_album_keeps_its_photos(phone: Phone) -> None:
    album = phone.facts.add(Album(name="Sand"))
    photo = add(phone, "Dunes")
    phone.facts.edit(photo, albums=(album.id,))
    phone.refresh()
    use(phone, Press("Albums", role="tab"), Press("Sand"), Press("Delete album"), Press("Delete"))
    assert album not in phone.facts.all(Album)
    assert phone.facts.get(Photo, photo.id) == photo


def test_the_details_say_where_and_when(phone: Phone) -> None:
    add(phone, "Dunes")
    use(phone, Press("Search photos"), Fill("Search photos", "dun"), Press("Dunes"))
    use(phone, Press("Details"))
    details = {element.text: element.detail for element in phone.elements()}
    assert details["Place"] == "Tartu"
    assert str(phone.now.year) in details["Taken"]
