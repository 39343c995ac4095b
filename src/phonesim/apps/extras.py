"""The small apps of the store: a list of items, a page for each item, favourites.

They are not preinstalled (the store puts a few on a new phone), and can be removed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.contents.shelves import SHELVES
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Card, Column, Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Text
from phonesim.toolkit.tile_rows import TileRow


@dataclass(frozen=True, slots=True)
class Favourite:
    """An item that the user marked in one of the small apps."""

    id: int = 0
    app: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded sound."""

    id: int = 0
    name: str = ""
    seconds: int = 0


class ShelfApp(App):
    """The base of the small apps: a list of items, each with a page and a favourite button."""

    preinstalled = False
    removable = True
    kinds = (Favourite,)

    def home(self, ui: Ui) -> Window:
        liked = {f.title for f in ui.facts.where(Favourite, lambda f: f.app == self.name)}
        rows = [
            TileRow(
                item.title,
                item.detail,
                icon="heart_filled" if item.title in liked else self.icon,
                color=self.color,
                on_tap=self._opening(ui, index),
            )
            for index, item in enumerate(SHELVES[self.name])
        ]
        return ui.page(self.name, [Heading("Today"), *rows])

    def _opening(self, ui: Ui, index: int) -> Handler:
        return lambda: ui.go("item", index)

    def item(self, ui: Ui, index: int) -> Window:
        item = SHELVES[self.name][index]
        liked = ui.facts.find(Favourite, lambda f: (f.app, f.title) == (self.name, item.title))

        def toggle() -> None:
            if liked:
                ui.facts.remove(liked)
            else:
                ui.facts.add(Favourite(app=self.name, title=item.title))

        label = "Remove from favourites" if liked else "Add to favourites"
        heart = IconButton("heart_filled" if liked else "heart", label, toggle)
        words = Column(
            [Text(item.title, "headline"), Text(item.detail, "small", "muted"), Text(item.text)],
            gap=8,
        )
        head = Row([Icon(self.icon, 64, "primary")], align="centre")
        return ui.page(
            self.name, [Pad(head, top=28, bottom=20), Pad(Card(words, pad=16))], actions=[heart]
        )


class RecorderApp(App):
    """Records and keeps sounds."""

    name = "Recorder"
    icon = "microphone"
    color = (196, 62, 62)
    preinstalled = False
    removable = True
    kinds = (Recording,)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        for name in rng.sample(("Lecture", "Birdsong", "Idea for a song", "Interview"), 2):
            facts.add(Recording(name=name, seconds=rng.randrange(20, 900)))

    def home(self, ui: Ui) -> Window:
        recordings = ui.facts.all(Recording)
        rows = [
            ListRow(
                r.name,
                f"{r.seconds // 60}:{r.seconds % 60:02d}",
                icon="microphone",
                button=("trash", f"Delete {r.name}", self._deleting(ui, r)),
            )
            for r in recordings
        ]
        return ui.page(
            "Recorder",
            rows or [Empty("No recordings yet", "microphone")],
            primary=("record", "Record", lambda: ui.go("record", ui.now.isoformat())),
        )

    def _deleting(self, ui: Ui, recording: Recording) -> Handler:
        return lambda: ui.facts.remove(recording)

    def record(self, ui: Ui, since: str) -> Window:
        seconds = int((ui.now - datetime.fromisoformat(since)).total_seconds())

        def stop() -> None:
            name = f"Recording {len(ui.facts.all(Recording)) + 1}"
            ui.facts.add(Recording(name=name, seconds=seconds))
            ui.back()
            ui.say(f"{name} saved")

        return ui.page(
            "Recording",
            [
                Pad(Row([Icon("microphone", 96, "danger")], align="centre"), top=60, bottom=30),
                Pad(Text(f"{seconds // 60}:{seconds % 60:02d}", "headline", align="centre")),
                Pad(Button("Stop recording", stop, icon="stop"), sides=48),
            ],
        )


class TranslatorApp(ShelfApp):
    """Phrases in other languages."""

    name = "Translator"
    icon = "language"
    color = (56, 112, 200)


class CompassApp(ShelfApp):
    """A compass."""

    name = "Compass"
    icon = "compass"
    color = (70, 92, 120)


class FitnessApp(ShelfApp):
    """Short exercises."""

    name = "Fitness"
    icon = "fitness"
    color = (226, 96, 52)


class YogaApp(ShelfApp):
    """Poses and rests."""

    name = "Yoga"
    icon = "leaf"
    color = (96, 150, 92)


class SleepApp(ShelfApp):
    """Sounds to fall asleep to."""

    name = "Sleep"
    icon = "moon"
    color = (64, 66, 136)


class RecipesApp(ShelfApp):
    """Recipes."""

    name = "Recipes"
    icon = "recipe"
    color = (206, 92, 48)


class BakingApp(ShelfApp):
    """Bread, cakes and biscuits."""

    name = "Baking"
    icon = "cake"
    color = (190, 112, 84)


class BrewApp(ShelfApp):
    """Coffee and tea."""

    name = "Brew"
    icon = "coffee"
    color = (124, 86, 60)


class NewsApp(ShelfApp):
    """News."""

    name = "News"
    icon = "news"
    color = (52, 64, 84)


class PodcastsApp(ShelfApp):
    """Episodes to listen to."""

    name = "Podcasts"
    icon = "headset"
    color = (138, 70, 176)


class RadioApp(ShelfApp):
    """Stations."""

    name = "Radio"
    icon = "radio"
    color = (30, 128, 132)


class ChessApp(ShelfApp):
    """Puzzles on a board."""

    name = "Chess"
    icon = "game"
    color = (84, 78, 72)


class SudokuApp(ShelfApp):
    """Grids of numbers."""

    name = "Sudoku"
    icon = "grid"
    color = (44, 108, 172)


class SolitaireApp(ShelfApp):
    """Games of cards."""

    name = "Solitaire"
    icon = "puzzle"
    color = (34, 122, 78)


class BankApp(ShelfApp):
    """Accounts and cards."""

    name = "Bank"
    icon = "bank"
    color = (24, 86, 140)


class BudgetApp(ShelfApp):
    """Expenses."""

    name = "Budget"
    icon = "wallet"
    color = (42, 132, 96)


class MarketsApp(ShelfApp):
    """Share prices."""

    name = "Markets"
    icon = "trend"
    color = (46, 52, 96)


EXTRAS: tuple[App, ...] = (
    RecorderApp(),
    TranslatorApp(),
    CompassApp(),
    FitnessApp(),
    YogaApp(),
    SleepApp(),
    RecipesApp(),
    BakingApp(),
    BrewApp(),
    NewsApp(),
    PodcastsApp(),
    RadioApp(),
    ChessApp(),
    SudokuApp(),
    SolitaireApp(),
    BankApp(),
    BudgetApp(),
    MarketsApp(),
)
