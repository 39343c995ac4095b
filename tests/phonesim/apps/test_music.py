"""The app Music, by taps."""

from __future__ import annotations

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp, Wait
from phonesim.contents.playback import (
    Playback,
    Playlist,
    PlayPosition,
    Song,
    position,
)
from phonesim.contents.songs import ALBUM_OF, ALBUMS, SECONDS_OF, TITLES
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Press


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Music"))
    return phone


def playing(phone: Phone) -> Song:
    return phone.facts.get(Song, phone.facts.one(Playback).song)


def test_every_title_is_on_one_album() -> None:
    assert len(TITLES) == len(set(TITLES)) == len(ALBUM_OF) == len(SECONDS_OF)
    assert len({album.name for album in ALBUMS}) == len(ALBUMS)


def test_a_song_is_found_and_played_and_its_seconds_count(phone: Phone, use: Use) -> None:
    song = phone.facts.all(Song)[3]
    use(Fill("Search music", song.title), Press(song.title, "row"))
    assert playing(phone) == song
    phone.perform(Wait(30))
    assert position(phone.facts, phone.now) >= 30
    use(Press("Pause"))
    paused = phone.facts.one(PlayPosition).seconds
    phone.perform(Wait(30))
    assert position(phone.facts, phone.now) == paused
    phone.perform(Wait(600))
    use(Press("Play"))
    phone.perform(Wait(600))
    assert position(phone.facts, phone.now) == song.seconds  # it waits at its end


def test_next_and_previous_walk_along_the_queue(phone: Phone, use: Use) -> None:
    queue = phone.facts.one(Playback).queue
    use(Press("Now playing"), Press("Next"), Press("Next"))
    assert playing(phone).id == queue[2]
    use(Press("Previous"), Press("Previous"), Press("Previous"))
    assert playing(phone).id == queue[-1]


def test_repeat_goes_round(phone: Phone, use: Use) -> None:
    use(Press("Now playing"), Press("Repeat: off"), Press("Repeat: all songs"))
    assert phone.facts.one(Playback).repeat == "one"
    use(Press("Repeat: this song"), Press("Shuffle"))
    assert phone.facts.one(Playback).repeat == "off"
    assert phone.facts.one(Playback).shuffle


def test_an_album_is_shuffled_with_all_its_songs(phone: Phone, use: Use) -> None:
    album = phone.facts.all(Song)[0].album
    use(Press("Albums", "tab"), Press(album), Press("Shuffle"))
    songs = {song.id for song in phone.facts.all(Song) if song.album == album}
    assert set(phone.facts.one(Playback).queue) == songs
    assert playing(phone).album == album


def test_a_playlist_from_beginning_to_end(phone: Phone, finger: Finger, use: Use) -> None:
    song = phone.facts.all(Song)[5]
    use(Press("Playlists", "tab"), Press("New playlist"))
    use(Fill("Playlist name", "Tides"), Press("Create"), Press("Add songs"))
    use(Fill("Search songs", song.title), Press(song.title, "row"), GoBack(), GoBack())
    (playlist,) = phone.facts.where(Playlist, lambda p: p.name == "Tides")
    assert playlist.songs == (song.id,)
    use(Press(f"More for {song.title}"), Press("Remove from playlist"))
    assert phone.facts.get(Playlist, playlist.id).songs == ()
    use(Press("Playlist options"), Press("Delete playlist"), Press("Delete"))
    assert "Tides" not in finger.labels
    assert "New playlist" in finger.labels  # the page of the playlist closed itself


def test_play_next_comes_right_after_the_current_song(phone: Phone, use: Use) -> None:
    before = phone.facts.one(Playback)
    song = next(s for s in phone.facts.all(Song) if s.id not in before.queue)
    use(Fill("Search music", song.title), Press(f"More for {song.title}"))
    use(Press("Play next"))
    assert phone.facts.one(Playback).queue == (before.queue[0], song.id, *before.queue[1:])
