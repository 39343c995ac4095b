"""Tasks in the app Music that end with an answer, or begin in another app."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.notes import Note
from phonesim.contents.playback import Playback, Song
from phonesim.contents.songs import ALBUM_OF, ALBUMS
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.music import (
    PLAYLISTS,
    SONGS,
    find_song,
    not_playing,
    playlist_of,
    put_playlist,
    put_song,
    song_of,
)
from phonesim.tasks.moves import Move, Open, Press, Reveal, Say
from phonesim.tasks.template import Template, View

NOTE_TITLES = Domain(
    "notes with a song",
    (
        "Song to hear", "From the café", "Radio find", "Earworm", "Ask about this song",
        "Heard at the party", "Mia's tip", "Must listen", "On the train", "New favourite",
    ),
)  # fmt: skip


def states_length(answer: str | None, seconds: int) -> bool:
    """Return whether the answer is 3:05, or 3 minutes 5 seconds, or 185 seconds, and only that."""
    numbers = [int(number) for number in re.findall(r"\d+", answer or "")]
    minutes, rest = divmod(seconds, 60)
    if numbers == [minutes] and not rest:
        return "min" in (answer or "").lower()
    return numbers in ([minutes, rest], [seconds])


@dataclass(frozen=True)
class WhichAlbum(Template):
    name = "music.which_album"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        "Which album is the song {song} on?",
        "Look up in Music which album {song} is from",
        "On what album can I find {song}? Check in Music",
    )
    touches = (Playback,)  # one may play the song to see it
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Put the song on a random album, so that the agent must look it up."""
        song = put_song(facts, self.song)
        facts.edit(song, album=rng.choice([album.name for album in ALBUMS]))

    def _song(self, view: View) -> Song:
        artist = ALBUM_OF[self.song].artist
        return next(s for s in view.all(Song) if (s.title, s.artist) == (self.song, artist))

    def missing(self, start: View, end: View) -> str | None:
        album = self._song(start).album
        others = [other.name for other in ALBUMS if other.name != album]
        right = mentions(end.answer, album, others)
        return None if right else f"the answer {end.answer!r} does not name {album!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from find_song(self.song)
        yield Press(f"More for {self.song}")
        yield Press("Song details")
        yield Say(self._song(start).album)


@dataclass(frozen=True)
class SongLength(Template):
    name = "music.song_length"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        "How long is the song {song}?",
        "What is the length of {song}? Look in Music",
        "Tell me how many minutes and seconds {song} takes",
    )
    touches = (Playback,)  # one may play the song to see it
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.edit(put_song(facts, self.song), seconds=rng.randrange(121, 359))

    def missing(self, start: View, end: View) -> str | None:
        song = song_of(start, self.song)
        right = states_length(end.answer, song.seconds)
        return None if right else f"the answer {end.answer!r} does not say {song.length}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from find_song(self.song)
        yield Press(f"More for {self.song}")
        yield Press("Song details")
        yield Say(song_of(start, self.song).length)


@dataclass(frozen=True)
class CountSongs(Template):
    name = "music.count_songs"
    apps = ("Music",)
    difficulty = "easy"
    phrasings = (
        'How many songs are on my playlist "{playlist}"?',
        'Count the songs of the playlist "{playlist}" in Music',
        'Tell me the number of songs on "{playlist}", one of my playlists',
    )
    playlist: str = parameter(PLAYLISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        playlist = put_playlist(facts, rng, self.playlist)
        others = [song.id for song in facts.all(Song) if song.id not in playlist.songs]
        more = tuple(rng.sample(others, rng.randrange(0, 15)))
        facts.edit(playlist, songs=playlist.songs + more)

    def missing(self, start: View, end: View) -> str | None:
        count = len(playlist_of(start, self.playlist).songs)
        right = states_number(end.answer, count)
        return None if right else f"the answer {end.answer!r} does not say {count}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Playlists", "tab")
        yield Reveal(self.playlist)
        yield Say(str(len(playlist_of(start, self.playlist).songs)))


@dataclass(frozen=True)
class PlayNotedSong(Template):
    name = "music.play_noted_song"
    apps = ("Notes", "Music")
    difficulty = "medium"
    held_out = True
    phrasings = (
        'Play the song that I wrote down in the note "{note}"',
        'My note "{note}" has the name of a song. Play it in Music',
        'Look up the song in my note "{note}" and put it on',
    )
    touches = (Playback,)
    note: str = parameter(NOTE_TITLES)
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_song(facts, self.song)
        facts.add(Note(title=self.note, text=f"{self.song} by {ALBUM_OF[self.song].artist}"))
        other = next(s for s in facts.all(Song) if s.title != self.song)
        facts.change(Playback, song=other.id, playing=False)

    def missing(self, start: View, end: View) -> str | None:
        return not_playing(start, end, self.song)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press(self.note)
        yield from find_song(self.song)
        yield Press(self.song, "row")


TEMPLATES: tuple[type[Template], ...] = (
    WhichAlbum,
    SongLength,
    CountSongs,
    PlayNotedSong,
)
