"""The app Gallery, by taps."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.contents.photos import Album, Photo
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Press


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Gallery"))
    return phone


def add(phone: Phone, title: str) -> Photo:
    taken = phone.now - timedelta(hours=2)
    photo = phone.facts.add(Photo(title=title, taken=taken, place="Tartu"))
    phone.refresh()
    return photo


def test_the_heart_can_be_given_and_taken(phone: Phone, use: Use) -> None:
    photo = add(phone, "Dunes")
    use(Press("Dunes"), Press("Add to favourites"))
    assert phone.facts.get(Photo, photo.id).favourite
    use(Press("Remove from favourites"))
    assert phone.facts.get(Photo, photo.id) == photo


def test_a_deleted_photo_waits_in_the_trash(phone: Phone, finger: Finger, use: Use) -> None:
    photo = add(phone, "Dunes")
    use(Press("Dunes"), Press("Delete"), Press("Delete"))
    assert "Dunes" not in finger.labels
    assert phone.routes[-1].page == "home"
    use(Press("Albums", role="tab"), Press("Trash"), Press("Dunes"), Press("Restore"))
    assert phone.facts.get(Photo, photo.id) == photo


def test_a_photo_goes_into_a_new_album(phone: Phone, use: Use) -> None:
    photo = add(phone, "Dunes")
    use(Press("Albums", role="tab"), Press("New album"), Fill("Album name", "Sand"))
    use(Press("Create"), Press("Photos", role="tab"), Press("Dunes"))
    use(Press("Add to album"), Press("Sand"))
    (album,) = phone.facts.where(Album, lambda each: each.name == "Sand")
    assert phone.facts.get(Photo, photo.id).albums == (album.id,)


def test_deleting_an_album_keeps_its_photos(phone: Phone, use: Use) -> None:
    album = phone.facts.add(Album(name="Sand"))
    photo = add(phone, "Dunes")
    phone.facts.edit(photo, albums=(album.id,))
    phone.refresh()
    use(Press("Albums", role="tab"), Press("Sand"), Press("Delete album"), Press("Delete"))
    assert album not in phone.facts.all(Album)
    assert phone.facts.get(Photo, photo.id) == photo


def test_the_details_say_where_and_when(phone: Phone, use: Use) -> None:
    add(phone, "Dunes")
    use(Press("Search photos"), Fill("Search photos", "dun"), Press("Dunes"))
    use(Press("Details"))
    details = {element.text: element.detail for element in phone.elements()}
    assert details["Place"] == "Tartu"
    assert str(phone.now.year) in details["Taken"]
