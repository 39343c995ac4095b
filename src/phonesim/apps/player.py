"""The widgets of the music player: the large one on its own page, the small one below lists."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.app import Ui
from phonesim.contents import playback as player
from phonesim.contents.playback import Playback, Song
from phonesim.drawing.fonts import shorten
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.boxes import Column, Pad, Row, Space
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.texts import Picture, Progress, Text
from phonesim.toolkit.widget import Size, Widget

MINI = 56
DISC = 60


@dataclass(slots=True)
class MiniPlayer:
    """The bar at the bottom: the current song, Play and Next. A tap opens the player."""

    title: str
    artist: str
    cover: str
    share: float
    playing: bool
    on_open: Handler
    on_play: Handler
    on_next: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return width, MINI

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        scene.fill(x, y, width, height, theme.surface)
        scene.background = theme.surface
        scene.fill(x, y, width, 2, theme.line)
        scene.fill(x, y, round(width * self.share), 2, theme.primary)
        scene.canvas.picture(x + 10, y + 9, self.cover, 40, 40)
        room = width - 160
        names = theme.strong.line_height + theme.small.line_height
        top = y + (height - names) // 2 + 1
        scene.text(x + 62, top, shorten(self.title, theme.strong, room), theme.strong)
        below = top + theme.strong.line_height
        scene.text(x + 62, below, shorten(self.artist, theme.small, room), theme.small, theme.muted)
        whole = (x, y, width, height)
        detail = f"{self.title} by {self.artist}"
        scene.element("row", "Now playing", whole, detail=detail, on_tap=self.on_open)
        icon, label = ("pause", "Pause") if self.playing else ("play", "Play")
        IconButton(icon, label, self.on_play).place(scene, x + width - 92, y + 8, 40, 40)
        IconButton("next", "Next", self.on_next).place(scene, x + width - 48, y + 8, 40, 40)
        scene.background = behind


@dataclass(slots=True)
class PlayDisc:
    """The large round play button of the player."""

    playing: bool
    on_tap: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return DISC, DISC

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        left, top = x + (width - DISC) // 2, y + (height - DISC) // 2
        scene.rounded(left, top, DISC, DISC, DISC // 2, theme.primary)
        scene.background = theme.primary
        icon, label = ("pause", "Pause") if self.playing else ("play", "Play")
        scene.icon(left + 16, top + 16, icon, 28, theme.on_primary)
        scene.background = behind
        scene.element("button", label, (left, top, DISC, DISC), on_tap=self.on_tap)


def mini_player(ui: Ui) -> MiniPlayer | None:
    """Return the bar for the current song; None if the song was deleted."""
    playback = ui.facts.one(Playback)
    song = ui.facts.find(Song, lambda s: s.id == playback.song)
    if song is None:
        return None
    return MiniPlayer(
        title=song.title,
        artist=song.artist,
        cover=f"cover:{song.album}",
        share=player.position(ui.facts, ui.now) / song.seconds,
        playing=playback.playing,
        on_open=lambda: ui.go("player"),
        on_play=lambda: player.play_or_pause(ui.facts, ui.now),
        on_next=lambda: player.skip(ui.facts, ui.now, 1),
    )


def large_player(ui: Ui, song: Song) -> list[Widget]:
    """Return the body of the player's page: cover, names, progress, controls."""
    gone = round(player.position(ui.facts, ui.now))
    like = "Remove from favourites" if song.favourite else "Add to favourites"
    heart = IconButton(
        "heart_filled" if song.favourite else "heart",
        like,
        lambda: player.favour(ui.facts, song),
        selected=song.favourite,
    )
    names = Column(
        [Text(song.title, "headline", max_lines=1), Text(song.artist, "body", "muted")], gap=2
    )
    shown = Text(f"{gone // 60}:{gone % 60:02d}", "small", "muted")
    times = Row([shown, Space(), Text(song.length, "small", "muted")], stretch=1)
    album = Text(song.album, "small", "muted", max_lines=1, align="centre")
    return [
        Pad(Picture(f"cover:{song.album}"), sides=56 if ui.version == 2 else 40, top=16),
        Pad(Row([names, heart], stretch=0), sides=24),
        Pad(Column([Progress(gone / song.seconds), times], gap=4), sides=24),
        Pad(_controls(ui, ui.facts.one(Playback)), sides=16, top=4),
        *([] if ui.version == 2 else [Pad(album, top=12)]),
    ]


def _controls(ui: Ui, playback: Playback) -> Row:
    facts = ui.facts
    repeat = {"off": "Repeat: off", "all": "Repeat: all songs", "one": "Repeat: this song"}
    shuffle = IconButton(
        "shuffle",
        "Shuffle",
        lambda: player.toggle_shuffle(facts),
        selected=playback.shuffle,
    )
    again = IconButton(
        "repeat_one" if playback.repeat == "one" else "repeat",
        repeat[playback.repeat],
        lambda: player.next_repeat(facts),
        selected=playback.repeat != "off",
    )
    return Row(
        [
            shuffle,
            IconButton("previous", "Previous", lambda: player.skip(facts, ui.now, -1), px=28),
            PlayDisc(playback.playing, lambda: player.play_or_pause(facts, ui.now)),
            IconButton("next", "Next", lambda: player.skip(facts, ui.now, 1), px=28),
            again,
        ],
        gap=4,
        align="spread",
    )
