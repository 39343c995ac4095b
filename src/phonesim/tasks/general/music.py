"""Tasks in the app Music."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.playback import Playback, Playlist, Song, add_album
from phonesim.contents.songs import ALBUM_OF, ALBUMS, TITLES
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_changed
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View

SONGS = Domain("songs", TITLES, say=lambda title: f'"{title}"')
ALBUM_NAMES = Domain("albums", tuple(album.name for album in ALBUMS))
PLAYLISTS = Domain(
    "playlists",
    (
        "Road trip", "Rainy day", "Gym", "Cooking", "Sunday", "Deep work", "Party", "Summer night",
        "Slow songs", "Commute", "Wedding", "Piano evening", "Winter walk", "For Lena", "Camping",
        "Spring cleaning",
    ),
)  # fmt: skip


def put_song(facts: Facts, title: str) -> Song:
    """Make sure that the song's album is in the library, and return the song."""
    album = ALBUM_OF[title]
    add_album(facts, album)
    found = facts.find(Song, lambda s: (s.title, s.album) == (title, album.name))
    assert found is not None
    return found


def song_of(view: View, title: str) -> Song:
    album = ALBUM_OF[title].name
    return next(s for s in view.all(Song) if (s.title, s.album) == (title, album))


def put_playlist(facts: Facts, rng: random.Random, name: str, without: int = 0) -> Playlist:
    """Add a playlist of that name with three songs, none of which has the id `without`."""
    others = [song.id for song in facts.all(Song) if song.id != without]
    return facts.add(Playlist(name=name, songs=tuple(rng.sample(others, 3))))


def playlist_of(view: View, name: str) -> Playlist:
    return next(playlist for playlist in view.all(Playlist) if playlist.name == name)


def not_playing(start: View, end: View, title: str) -> str | None:
    """Return None if this song plays, with shuffle and repeat as before; else what is wrong."""
    playback, before = end.one(Playback), start.one(Playback)
    if playback.song != song_of(start, title).id:
        return "another song is in the player"
    if (playback.shuffle, playback.repeat) != (before.shuffle, before.repeat):
        return "shuffle or repeat was changed as well"
    return None if playback.playing else "the song is not playing"


def find_song(title: str) -> Iterable[Move]:
    yield Open("Music")
    yield Fill("Search music", title)


@dataclass(frozen=True)
class PlaySong(Template):
    name = "music.play_song"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        "Play {song} by {artist}",
        "Open Music and play the song {song} by {artist}",
        "I want to hear {song} by {artist}",
        "Put on {artist}'s {song}, please",
    )
    touches = (Playback,)
    song: str = parameter(SONGS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "artist": ALBUM_OF[self.song].artist}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        song = put_song(facts, self.song)
        others = [album for album in ALBUMS if album.artist != song.artist]
        cover = rng.choice(others)  # another artist has a song of that name
        facts.add(Song(0, song.title, cover.artist, cover.name, 9, rng.randrange(150, 300)))
        other = next(s for s in facts.all(Song) if s.title != song.title)
        facts.change(Playback, song=other.id, playing=False)

    def missing(self, start: View, end: View) -> str | None:
        return not_playing(start, end, self.song)

    def solve(self, start: View) -> Iterable[Move]:
        yield from find_song(self.song)
        yield Press(self.song, "row", ALBUM_OF[self.song].artist)


@dataclass(frozen=True)
class FavouritePlaying(Template):
    name = "music.favourite_playing"
    apps = ("Music",)
    difficulty = "easy"
    phrasings = (
        "I am listening to {song}. Add it to my favourites",
        "Mark {song}, which is in the player now, as a favourite",
        "The song in the player, {song}, is great. Make it a favourite",
    )
    touches = (Song,)
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        song = put_song(facts, self.song)
        facts.edit(song, favourite=False)
        queue = facts.one(Playback).queue
        facts.change(Playback, song=song.id, queue=(song.id, *(s for s in queue if s != song.id)))

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Song, song_of(start, self.song).id, favourite=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Now playing", "row")
        yield Press("Add to favourites")


@dataclass(frozen=True)
class Unfavourite(Template):
    name = "music.unfavourite"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        "Remove {song} from my favourite songs",
        "{song} is no longer a favourite of mine. Take it off the favourites in Music",
        "Unmark the song {song} as a favourite",
    )
    touches = (Song, Playback)  # one may play the song and unmark it in the player
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.edit(put_song(facts, self.song), favourite=True)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Song, song_of(start, self.song).id, favourite=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Playlists", "tab")
        yield Press("Favourites")
        yield Press(f"More for {self.song}")
        yield Press("Remove from favourites")


@dataclass(frozen=True)
class ShuffleAlbum(Template):
    name = "music.shuffle_album"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        'Shuffle the album "{album}"',
        'Play the songs of the album "{album}" in random order',
        'Put the album "{album}" on shuffle in Music',
    )
    touches = (Playback,)
    album: str = parameter(ALBUM_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_album(facts, next(album for album in ALBUMS if album.name == self.album))
        facts.change(Playback, playing=False, shuffle=False)

    def missing(self, start: View, end: View) -> str | None:
        playback = end.one(Playback)
        songs = {song.id for song in start.all(Song) if song.album == self.album}
        if playback.song not in songs or set(playback.queue) != songs:
            return f"the queue is not the album {self.album!r}"
        if not playback.shuffle or playback.repeat != start.one(Playback).repeat:
            return "shuffle is off, or repeat was changed as well"
        return None if playback.playing else "nothing is playing"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Albums", "tab")
        yield Press(self.album)
        yield Press("Shuffle")


@dataclass(frozen=True)
class PlayNext(Template):
    name = "music.play_next"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        "Let {song} play next, after the current song",
        "Queue {song} so that it comes right after this song",
        "Put the song {song} next in the queue",
    )
    touches = (Playback,)
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        wanted = put_song(facts, self.song).id
        queue = tuple(s for s in facts.one(Playback).queue if s != wanted)
        facts.change(Playback, song=queue[0], queue=queue)

    def missing(self, start: View, end: View) -> str | None:
        before, wanted = start.one(Playback), song_of(start, self.song).id
        queue = (before.queue[0], wanted, *before.queue[1:])
        return only_changed(start, end, Playback, before.id, queue=queue)

    def solve(self, start: View) -> Iterable[Move]:
        yield from find_song(self.song)
        yield Press(f"More for {self.song}")
        yield Press("Play next")


@dataclass(frozen=True)
class RepeatSong(Template):
    name = "music.repeat_song"
    apps = ("Music",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Play the song {song} on repeat, only that song",
        "Put on {song} and let the player repeat just this song",
        "I want to hear {song} again and again. Play it and repeat this song",
    )
    touches = (Playback,)
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_song(facts, self.song)
        facts.change(Playback, playing=False, repeat="off")

    def missing(self, start: View, end: View) -> str | None:
        playback = end.one(Playback)
        if playback.song != song_of(start, self.song).id or not playback.playing:
            return f"{self.song!r} is not playing"
        if playback.shuffle != start.one(Playback).shuffle:
            return "shuffle was changed as well"
        return None if playback.repeat == "one" else f"repeat is set to {playback.repeat!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from find_song(self.song)
        yield Press(self.song, "row")
        yield Press("Now playing", "row")
        yield Press("Repeat: off")
        yield Press("Repeat: all songs")


TEMPLATES: tuple[type[Template], ...] = (
    PlaySong,
    FavouritePlaying,
    Unfavourite,
    ShuffleAlbum,
    PlayNext,
    RepeatSong,
)
