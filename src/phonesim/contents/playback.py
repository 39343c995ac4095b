"""The state and actions of the music player: songs, playlists, the current song and its queue.

The functions work on facts alone, so that the app's pages and the setup of tasks share them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from phonesim.contents.songs import Album
from phonesim.facts import Facts

REPEATS = {"off": "all", "all": "one", "one": "off"}  # mode -> mode after a tap on Repeat


@dataclass(frozen=True, slots=True)
class Song:
    """A song in the library."""

    id: int = 0
    title: str = ""
    artist: str = ""
    album: str = ""
    track: int = 1
    seconds: int = 180
    favourite: bool = False

    @property
    def length(self) -> str:
        return f"{self.seconds // 60}:{self.seconds % 60:02d}"


@dataclass(frozen=True, slots=True)
class Playlist:
    """Song ids in playing order."""

    id: int = 0
    name: str = ""
    songs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Playback:
    """The player's state; there is one record. The queue contains the current song."""

    SINGLE: ClassVar[bool] = True
    id: int = 0
    song: int = 0
    playing: bool = False
    shuffle: bool = False
    repeat: str = "off"  # off, all, one
    queue: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayPosition:
    """The position in the song: `seconds`, plus the time since `since` while playing."""

    INCIDENTAL: ClassVar[bool] = True
    id: int = 0
    seconds: float = 0.0
    since: datetime | None = None


def add_album(facts: Facts, album: Album) -> None:
    """Add an album's songs to the library, skipping those that are there."""
    have = {(song.album, song.title) for song in facts.all(Song)}
    for track, (title, seconds) in enumerate(album.tracks, 1):
        if (album.name, title) not in have:
            facts.add(Song(0, title, album.artist, album.name, track, seconds))


def position(facts: Facts, now: datetime) -> float:
    """Return the seconds played of the current song; at most its length."""
    place, song = facts.one(PlayPosition), facts.get(Song, facts.one(Playback).song)
    counting = (now - place.since).total_seconds() if place.since else 0.0
    return min(float(song.seconds), place.seconds + counting)


def start(facts: Facts, now: datetime, song: int, queue: tuple[int, ...], **changes: Any) -> None:
    """Play a song from its start, with that queue."""
    facts.change(Playback, song=song, queue=queue, playing=True, **changes)
    facts.change(PlayPosition, seconds=0.0, since=now)


def start_shuffled(facts: Facts, now: datetime, songs: tuple[int, ...]) -> None:
    """Play songs in a pseudorandom order, seeded with the songs and the minute."""
    order = list(songs)
    random.Random(f"shuffle/{songs}/{now:%Y-%m-%d %H:%M}").shuffle(order)
    start(facts, now, order[0], tuple(order), shuffle=True)


def play_or_pause(facts: Facts, now: datetime) -> None:
    playing = facts.one(Playback).playing
    seconds = position(facts, now)
    facts.change(PlayPosition, seconds=seconds, since=None if playing else now)
    facts.change(Playback, playing=not playing)


def skip(facts: Facts, now: datetime, step: int) -> None:
    """Play the next (1) or the previous (-1) song of the queue, cyclically."""
    playback = facts.one(Playback)
    queue = playback.queue or (playback.song,)
    at = queue.index(playback.song) if playback.song in queue else 0
    start(facts, now, queue[(at + step) % len(queue)], queue)


def play_next(facts: Facts, song: int) -> None:
    """Insert a song into the queue right after the current one."""
    playback = facts.one(Playback)
    if song == playback.song:
        return
    queue = tuple(other for other in playback.queue if other != song)
    at = queue.index(playback.song) + 1 if playback.song in queue else 0
    facts.change(Playback, queue=(*queue[:at], song, *queue[at:]))


def toggle_shuffle(facts: Facts) -> None:
    facts.change(Playback, shuffle=not facts.one(Playback).shuffle)


def next_repeat(facts: Facts) -> None:
    facts.change(Playback, repeat=REPEATS[facts.one(Playback).repeat])


def favour(facts: Facts, song: Song) -> None:
    """Toggle a song's favourite mark."""
    facts.edit(song, favourite=not song.favourite)


def add_to(facts: Facts, playlist_id: int, song: int) -> bool:
    """Append a song to a playlist; return False if it is in it already."""
    playlist = facts.get(Playlist, playlist_id)
    if song in playlist.songs:
        return False
    facts.edit(playlist, songs=(*playlist.songs, song))
    return True


def take_off(facts: Facts, playlist_id: int, song: int) -> None:
    playlist = facts.get(Playlist, playlist_id)
    facts.edit(playlist, songs=tuple(other for other in playlist.songs if other != song))
