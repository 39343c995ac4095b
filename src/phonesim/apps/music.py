"""Music: a library of songs, albums and playlists, a player, and its queue."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.apps.player import large_player, mini_player
from phonesim.contents import playback as player
from phonesim.contents.playback import Playback, Playlist, PlayPosition, Song
from phonesim.contents.songs import ALBUMS, PLAYLIST_NAMES
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Card, Column, Grid, Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Picture, Text
from phonesim.toolkit.widget import Widget

TABS = ("Songs", "Albums", "Playlists")
TAB_ICONS = ("music", "album", "list")
MAX_ROWS = 40


class MusicApp(App):
    """Songs, albums and playlists over a mini player."""

    name = "Music"
    icon = "music"
    color = (216, 67, 98)
    kinds = (Song, Playlist, Playback, PlayPosition)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        for album in rng.sample(ALBUMS, 7):
            player.add_album(facts, album)
        songs = facts.all(Song)
        for song in rng.sample(songs, 4):
            facts.edit(song, favourite=True)
        for name in rng.sample(PLAYLIST_NAMES, 3):
            chosen = rng.sample(songs, rng.randrange(3, 7))
            facts.add(Playlist(name=name, songs=tuple(song.id for song in chosen)))
        queue = tuple(song.id for song in rng.sample(songs, 8))
        facts.add(Playback(song=queue[0], queue=queue))
        facts.add(PlayPosition(seconds=float(rng.randrange(20, 120))))

    # The library -------------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        tab = ui.tab(*TABS)
        parts = {"Songs": self._songs, "Albums": self._albums, "Playlists": self._playlists}
        listing = tab == "Playlists"
        return ui.page(
            "Music",
            parts[tab](ui),
            tabs=ui.tabs(*TABS, icons=TAB_ICONS if ui.version == 2 else ()),
            head=None if listing else _search(ui, "Search music"),
            foot=mini_player(ui),
            primary=("plus", "New playlist", lambda: ui.go("new_playlist")) if listing else None,
        )

    def _songs(self, ui: Ui) -> list[Widget]:
        songs = _found(ui)
        queue = tuple(song.id for song in songs)
        rows: list[Widget] = [_song_row(ui, song, queue, cover=True) for song in songs]
        return rows or [Empty("No songs found", "music")]

    def _albums(self, ui: Ui) -> list[Widget]:
        query = ui.text("query").casefold().strip()
        albums: dict[str, str] = {}
        for song in ui.facts.all(Song):
            if query in f"{song.album} {song.artist}".casefold():
                albums.setdefault(song.album, song.artist)
        names = sorted(albums)
        if not names:
            return [Empty("No albums found", "album")]
        if ui.version == 3:
            return [_album_row(ui, name, albums[name]) for name in names]
        return [Pad(Grid([_album_tile(ui, n, albums[n]) for n in names], 2, gap=10), sides=12)]

    def _playlists(self, ui: Ui) -> list[Widget]:
        liked = len(ui.facts.where(Song, lambda s: s.favourite))
        first = ListRow(
            "Favourites", _count(liked), icon="heart_filled", on_tap=lambda: ui.go("favourites")
        )
        return [first, *(_playlist_row(ui, playlist) for playlist in ui.facts.all(Playlist))]

    def album(self, ui: Ui, name: str) -> Window:
        songs = sorted(ui.facts.where(Song, lambda s: s.album == name), key=lambda s: s.track)
        artist = songs[0].artist if songs else ""
        words = Column([Text(name, "title", max_lines=2), Text(artist, "small", "muted")], gap=4)
        head = Row([Picture(f"cover:{name}", px=96, high=96), words], gap=14, stretch=1)
        return _collection(ui, "Album", songs, head=[Pad(head)])

    def favourites(self, ui: Ui) -> Window:
        return _collection(ui, "Favourites", ui.facts.where(Song, lambda s: s.favourite))

    def playlist(self, ui: Ui, playlist_id: int) -> Window:
        playlist = ui.facts.get(Playlist, playlist_id)
        songs = [ui.facts.get(Song, song) for song in playlist.songs]
        actions = [
            IconButton("plus", "Add songs", lambda: ui.go("add_songs", playlist_id)),
            IconButton("more", "Playlist options", lambda: ui.go("playlist_menu", playlist_id)),
        ]
        return _collection(ui, playlist.name, songs, actions=actions, playlist=playlist_id)

    # What can be done with a song --------------------------------------------------------------

    def song_menu(self, ui: Ui, song_id: int, playlist_id: int) -> Window:
        song = ui.facts.get(Song, song_id)

        def play_next() -> None:
            player.play_next(ui.facts, song_id)
            ui.say(f"{song.title} plays next")

        def take_off() -> None:
            player.take_off(ui.facts, playlist_id, song_id)
            ui.say(f"{song.title} removed")

        like = "Remove from favourites" if song.favourite else "Add to favourites"
        choices: dict[str, Handler] = {
            "Play next": play_next,
            "Add to playlist": lambda: ui.go("choose_playlist", song_id),
            like: lambda: player.favour(ui.facts, song),
            "Song details": lambda: ui.go("song_details", song_id),
        }
        if playlist_id:
            choices["Remove from playlist"] = take_off
        return ui.sheet(song.title, choices)

    def choose_playlist(self, ui: Ui, song_id: int) -> Window:
        def adding(playlist: Playlist) -> Handler:
            def add() -> None:
                new = player.add_to(ui.facts, playlist.id, song_id)
                ui.say(f"Added to {playlist.name}" if new else f"Already in {playlist.name}")

            return add

        playlists = ui.facts.all(Playlist)
        return ui.sheet("Add to playlist", {p.name: adding(p) for p in playlists})

    def song_details(self, ui: Ui, song_id: int) -> Window:
        song = ui.facts.get(Song, song_id)
        lines = (
            f"Artist: {song.artist}",
            f"Album: {song.album}",
            f"Track: {song.track}",
            f"Length: {song.length}",
        )
        return ui.dialog(song.title, [Text(line) for line in lines], {"Close": None})

    # Playlists ---------------------------------------------------------------------------------

    def new_playlist(self, ui: Ui) -> Window:
        def create() -> None:
            playlist = ui.facts.add(Playlist(name=ui.text("name").strip() or "My playlist"))
            ui.swap("playlist", playlist.id)

        return _naming(ui, "New playlist", "Create", create)

    def rename_playlist(self, ui: Ui, playlist_id: int) -> Window:
        playlist = ui.facts.get(Playlist, playlist_id)

        def rename() -> None:
            ui.facts.edit(playlist, name=ui.text("name").strip() or playlist.name)
            ui.back()

        return _naming(ui, "Rename playlist", "Rename", rename)

    def playlist_menu(self, ui: Ui, playlist_id: int) -> Window:
        playlist = ui.facts.get(Playlist, playlist_id)
        return ui.sheet(
            playlist.name,
            {
                "Rename": lambda: ui.go("rename_playlist", playlist_id, name=playlist.name),
                "Delete playlist": lambda: ui.go("confirm_delete", playlist_id),
            },
        )

    def confirm_delete(self, ui: Ui, playlist_id: int) -> Window:
        playlist = ui.facts.get(Playlist, playlist_id)

        def delete() -> None:
            ui.facts.remove(playlist)
            ui.say("Playlist deleted")

        text = f"“{playlist.name}” will be gone; its songs stay in your library."
        return ui.dialog("Delete playlist?", text, {"Cancel": None, "Delete": delete})

    def add_songs(self, ui: Ui, playlist_id: int) -> Window:
        playlist = ui.facts.get(Playlist, playlist_id)

        def switching(song: Song) -> Handler:
            def switch() -> None:
                if not player.add_to(ui.facts, playlist_id, song.id):
                    player.take_off(ui.facts, playlist_id, song.id)

            return switch

        rows: list[Widget] = [
            ListRow(
                song.title,
                song.artist,
                picture=f"cover:{song.album}",
                check=song.id in playlist.songs,
                on_tap=switching(song),
                detail_lines=1,
            )
            for song in _found(ui)
        ]
        return ui.page(
            f"Add to {playlist.name}",
            rows or [Empty("No songs found", "music")],
            head=_search(ui, "Search songs"),
        )

    # The player --------------------------------------------------------------------------------

    def player(self, ui: Ui) -> Window:
        song = ui.facts.get(Song, ui.facts.one(Playback).song)
        actions = [
            IconButton("list", "Queue", lambda: ui.go("queue")),
            IconButton("more", "Song options", lambda: ui.go("song_menu", song.id, 0)),
        ]
        return ui.page("Now playing", large_player(ui, song), actions=actions)

    def queue(self, ui: Ui) -> Window:
        playback = ui.facts.one(Playback)
        by_id = {song.id: song for song in ui.facts.all(Song)}
        songs = [by_id[song] for song in playback.queue[:MAX_ROWS] if song in by_id]
        at = next((i for i, song in enumerate(songs) if song.id == playback.song), 0)
        body: list[Widget] = []
        for heading, part in (("Now", songs[at : at + 1]), ("Up next", songs[at + 1 :])):
            body.append(Heading(heading))
            body += [_song_row(ui, song, playback.queue) for song in part]
        return ui.page("Queue", body)


def _search(ui: Ui, label: str) -> Widget:
    return Pad(ui.field("query", label, icon="search"), sides=12, top=4, bottom=4)


def _found(ui: Ui) -> list[Song]:
    query = ui.text("query").casefold().strip()
    found = ui.facts.where(Song, lambda s: query in f"{s.title} {s.artist}".casefold())
    return sorted(found, key=lambda s: s.title)[:MAX_ROWS]


def _count(songs: int) -> str:
    return "1 song" if songs == 1 else f"{songs} songs"


def _song_row(
    ui: Ui, song: Song, queue: tuple[int, ...], *, cover: bool = False, playlist: int = 0
) -> ListRow:
    def more() -> None:
        ui.go("song_menu", song.id, playlist)

    return ListRow(
        song.title,
        song.artist,
        trailing="" if cover else song.length,
        picture=f"cover:{song.album}" if cover and ui.version != 3 else "",
        on_tap=lambda: player.start(ui.facts, ui.now, song.id, queue),
        on_hold=more,
        button=("more", f"More for {song.title}", more),
        selected=ui.facts.one(Playback).song == song.id,
        detail_lines=1,
    )


def _album_tile(ui: Ui, name: str, artist: str) -> Widget:
    words = [Text(name, "strong", max_lines=1), Text(artist, "small", "muted", max_lines=1)]
    return Card(
        Column([Picture(f"cover:{name}"), *words], gap=4),
        label=name,
        on_tap=lambda: ui.go("album", name),
        pad=8,
    )


def _album_row(ui: Ui, name: str, artist: str) -> Widget:
    return ListRow(name, artist, picture=f"cover:{name}", on_tap=lambda: ui.go("album", name))


def _playlist_row(ui: Ui, playlist: Playlist) -> ListRow:
    return ListRow(
        playlist.name,
        _count(len(playlist.songs)),
        icon="list",
        on_tap=lambda: ui.go("playlist", playlist.id),
        on_hold=lambda: ui.go("playlist_menu", playlist.id),
    )


def _naming(ui: Ui, title: str, label: str, act: Handler) -> Window:
    field = Pad(ui.field("name", "Playlist name", on_submit=act))
    return ui.page(title, [field, Pad(Row([Button(label, act)], align="right"))])


def _collection(
    ui: Ui,
    title: str,
    songs: Sequence[Song],
    *,
    head: Sequence[Widget] = (),
    actions: Sequence[IconButton] = (),
    playlist: int = 0,
) -> Window:
    """A page of songs with buttons to play them in order or shuffled."""
    queue = tuple(song.id for song in songs)
    if not songs:
        return ui.page(title, [Empty("No songs yet", "music")], actions=actions)
    buttons = [
        Button("Play all", lambda: player.start(ui.facts, ui.now, queue[0], queue), icon="play"),
        Button(
            "Shuffle",
            lambda: player.start_shuffled(ui.facts, ui.now, queue),
            "soft",
            icon="shuffle",
        ),
    ]
    rows = [_song_row(ui, song, queue, playlist=playlist) for song in songs[:MAX_ROWS]]
    body = [*head, Pad(Row(buttons, align="spread")), *rows]
    return ui.page(title, body, actions=actions, foot=mini_player(ui))
