"""An app of our own: how long to be quiet."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.facts import Facts
from phonesim.toolkit.rows import ListRow


@dataclass(frozen=True, slots=True)
class Hush:
    """Minutes of quiet to come."""

    id: int = 0
    minutes: int = 0


class HushApp(App):
    """Quiet, five minutes at a time."""

    name = "Hush"
    icon = "moon"
    color = (60, 60, 90)
    kinds = (Hush,)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        facts.add(Hush(minutes=5 * rng.randrange(12)))

    def home(self, ui: Ui) -> Window:
        hush = ui.facts.one(Hush)

        def more() -> None:
            ui.facts.edit(hush, minutes=hush.minutes + 5)

        rows = [ListRow(f"{hush.minutes} minutes of quiet", icon="moon")]
        return ui.page("Hush", rows, primary=("plus", "Five minutes more", more), actions=[])
