"""The app Music, by taps."""

from __future__ import annotations

import pytest

from distrl.devices.simulated.apps.playback import Playback, Playlist, PlayPosition, Song, position
from distrl.devices.simulated.apps.songs import ALBUM_OF, ALBUMS, SECONDS_OF, TITLES
from distrl.devices.simulated.drift import NO_DRIFT
from distrl.devices.simulated.phone import Phone
from distrl.records import FINAL_ACTIONS, OpenApp, Wait
from distrl.tasks.moves import Fill, GoBack, Move, Press
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
    phone.perform(OpenApp("Music"))
    return phone


def playing(phone: Phone) -> Song:
    return phone.facts.get(Song, phone.facts.one(Playback).song)


def test_every_title_is_on_one_album() -> None:
    assert len(TITLES) == len(set(TITLES)) == len(ALBUM_OF) == len(SECONDS_OF)
    assert len({album.name for album in ALBUMS}) == len(ALBUMS)


def test_a_song_is_found_and_played_and_its_seconds_count(phone: Phone) -> None:
    song = phone.facts.all(Song)[3]
    use(phone, Fill("Search music", song.title), Press(song.title, "row"))
    assert playing(phone) == song
    phone.perform(Wait(30))
    assert position(phone.facts, phone.now) >= 30
    use(phone, Press("Pause"))
    paused = phone.facts.one(PlayPosition).seconds
    phone.perform(Wait(30))
    assert position(phone.facts, phone.now) == paused
    phone.perform(Wait(600))
    use(phone, Press("Play"))
    phone.perform(Wait(600))
    assert position(phone.facts, phone.now) == song.seconds  # it waits at its end


def test_next_and_previous_walk_along_the_queue(phone: Phone) -> None:
    queue = phone.facts.one(Playback).queue
    use(phone, Press("Now playing"), Press("Next"), Press("Next"))
    assert playing(phone).id == queue[2]
    use(phone, Press("Previous"), Press("Previous"), Press("Previous"))
    assert playing(phone).id == queue[-1]


def test_repeat_goes_round(phone: Phone) -> None:
    use(phone, Press("Now playing"), Press("Repeat: off"), Press("Repeat: all songs"))
    assert phone.facts.one(Playback).repeat == "one"
    use(phone, Press("Repeat: this song"), Press("Shuffle"))
    assert phone.facts.one(Playback).repeat == "off"
    assert phone.facts.one(Playback).shuffle


def test_an_album_is_shuffled_with_all_its_songs(phone: Phone) -> None:
    album = phone.facts.all(Song)[0].album
    use(phone, Press("Albums", "tab"), Press(album), Press("Shuffle"))
    songs = {song.id for song in phone.facts.all(Song) if song.album == album}
    assert set(phone.facts.one(Playback).queue) == songs
    assert playing(phone).album == album


def test_a_playlist_from_beginning_to_end(phone: Phone) -> None:
    song = phone.facts.all(Song)[5]
    use(phone, Press("Playlists", "tab"), Press("New playlist"))
    use(phone, Fill("Playlist name", "Tides"), Press("Create"), Press("Add songs"))
    use(phone, Fill("Search songs", song.title), Press(song.title, "row"), GoBack(), GoBack())
    (playlist,) = phone.facts.where(Playlist, lambda p: p.name == "Tides")
    assert playlist.songs == (song.id,)
    use(phone, Press(f"More for {song.title}"), Press("Remove from playlist"))
    assert phone.facts.get(Playlist, playlist.id).songs == ()
    use(phone, Press("Playlist options"), Press("Delete playlist"), Press("Delete"))
    assert "Tides" not in labels(phone)
    assert "New playlist" in labels(phone)  # the page of the playlist closed itself


def test_play_next_comes_right_after_the_current_song(phone: Phone) -> None:
    before = phone.facts.one(Playback)
    song = next(s for s in phone.facts.all(Song) if s.id not in before.queue)
    use(phone, Fill("Search music", song.title), Press(f"More for {song.title}"))
    use(phone, Press("Play next"))
    assert phone.facts.one(Playback).queue == (before.queue[0], song.id, *before.queue[1:])
