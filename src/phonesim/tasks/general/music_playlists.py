"""Tasks in the app Music about playlists."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.playback import Playlist
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.general.music import (
    PLAYLISTS,
    SONGS,
    find_song,
    playlist_of,
    put_playlist,
    put_song,
    song_of,
)
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class CreatePlaylist(Template):
    name = "music.create_playlist"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        'Create a playlist called "{playlist}"',
        'Make a new, empty playlist "{playlist}" in Music',
        'I need a playlist with the name "{playlist}"',
    )
    touches = (Playlist,)
    playlist: str = parameter(PLAYLISTS)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, Playlist, name=self.playlist, songs=())

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Playlists", "tab")
        yield Press("New playlist")
        yield Fill("Playlist name", self.playlist)
        yield Press("Create")


@dataclass(frozen=True)
class AddToPlaylist(Template):
    name = "music.add_to_playlist"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        'Add the song {song} to my playlist "{playlist}"',
        'Put {song} on the playlist "{playlist}"',
        'My playlist "{playlist}" should have {song} on it. Please add it',
    )
    touches = (Playlist,)
    song: str = parameter(SONGS)
    playlist: str = parameter(PLAYLISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_playlist(facts, rng, self.playlist, without=put_song(facts, self.song).id)

    def missing(self, start: View, end: View) -> str | None:
        playlist = playlist_of(start, self.playlist)
        songs = (*playlist.songs, song_of(start, self.song).id)
        return only_changed(start, end, Playlist, playlist.id, songs=songs)

    def solve(self, start: View) -> Iterable[Move]:
        yield from find_song(self.song)
        yield Press(f"More for {self.song}")
        yield Press("Add to playlist")
        yield Press(self.playlist)


@dataclass(frozen=True)
class RemoveFromPlaylist(Template):
    name = "music.remove_from_playlist"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        'Remove the song {song} from the playlist "{playlist}"',
        'Take {song} off my playlist "{playlist}"',
        'I am tired of {song}. Take it off "{playlist}"',
    )
    touches = (Playlist,)
    song: str = parameter(SONGS)
    playlist: str = parameter(PLAYLISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        song = put_song(facts, self.song).id
        playlist = put_playlist(facts, rng, self.playlist, without=song)
        songs = [*playlist.songs, song]
        rng.shuffle(songs)
        facts.edit(playlist, songs=tuple(songs))

    def missing(self, start: View, end: View) -> str | None:
        playlist, song = playlist_of(start, self.playlist), song_of(start, self.song).id
        left = tuple(other for other in playlist.songs if other != song)
        return only_changed(start, end, Playlist, playlist.id, songs=left)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Playlists", "tab")
        yield Press(self.playlist)
        yield Press(f"More for {self.song}")
        yield Press("Remove from playlist")


@dataclass(frozen=True)
class RenamePlaylist(Template):
    name = "music.rename_playlist"
    apps = ("Music",)
    difficulty = "hard"
    held_out = True
    phrasings = (
        'Rename the playlist "{playlist}" to "{new}"',
        'My playlist "{playlist}" should be called "{new}" from now on',
        'Give the playlist "{playlist}" the new name "{new}"',
    )
    touches = (Playlist,)
    playlist: str = parameter(PLAYLISTS)
    new: str = parameter(PLAYLISTS)

    def sensible(self) -> bool:
        return self.playlist != self.new

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_playlist(facts, rng, self.playlist)

    def missing(self, start: View, end: View) -> str | None:
        playlist = playlist_of(start, self.playlist)
        return only_changed(start, end, Playlist, playlist.id, name=self.new)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Playlists", "tab")
        yield Press(self.playlist)
        yield Press("Playlist options")
        yield Press("Rename")
        yield Fill("Playlist name", self.new)
        yield Press("Rename")


@dataclass(frozen=True)
class DeletePlaylist(Template):
    name = "music.delete_playlist"
    apps = ("Music",)
    difficulty = "medium"
    phrasings = (
        'Delete the playlist "{playlist}"',
        'I do not need the playlist "{playlist}" any more. Remove it',
        'Get rid of my playlist "{playlist}"',
    )
    touches = (Playlist,)
    playlist: str = parameter(PLAYLISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_playlist(facts, rng, self.playlist)

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, Playlist, playlist_of(start, self.playlist).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Playlists", "tab")
        yield Press(self.playlist)
        yield Press("Playlist options")
        yield Press("Delete playlist")
        yield Press("Delete")


@dataclass(frozen=True)
class PlaylistWithSong(Template):
    name = "music.playlist_with_song"
    apps = ("Music",)
    difficulty = "hard"
    phrasings = (
        'Create a playlist called "{playlist}" with the song {song} on it',
        'Make a new playlist "{playlist}" and add {song} to it',
        'Start a playlist named "{playlist}"; its only song is {song}',
    )
    touches = (Playlist,)
    playlist: str = parameter(PLAYLISTS)
    song: str = parameter(SONGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_song(facts, self.song)

    def missing(self, start: View, end: View) -> str | None:
        songs = (song_of(start, self.song).id,)
        return only_added(start, end, Playlist, name=self.playlist, songs=songs)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Music")
        yield Press("Playlists", "tab")
        yield Press("New playlist")
        yield Fill("Playlist name", self.playlist)
        yield Press("Create")
        yield Press("Add songs")
        yield Fill("Search songs", self.song)
        yield Press(self.song, "row")


TEMPLATES: tuple[type[Template], ...] = (
    CreatePlaylist,
    AddToPlaylist,
    RemoveFromPlaylist,
    RenamePlaylist,
    DeletePlaylist,
    PlaylistWithSong,
)
