"""An app of your own on the simulated phone, and a task with it: no fork, nothing to install."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import distrl
from phonesim.app import App, Ui, Window
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.moves import Move, Open, Press
from phonesim.tasks.template import Template, View
from phonesim.toolkit.rows import ListRow

LAPS = Domain("laps", (2, 3, 4, 5))


@dataclass(frozen=True, slots=True)
class Laps:
    """How many were run today."""

    id: int = 0
    count: int = 0


@distrl.register_app
class LapApp(App):
    """A number, and a button that raises it. docs/add-an-app.md has the rules."""

    name = "Laps"
    icon = "timer"
    color = (30, 140, 90)
    kinds = (Laps,)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        facts.add(Laps(count=rng.randrange(10)))

    def home(self, ui: Ui) -> Window:
        laps = ui.facts.one(Laps)

        def add() -> None:
            ui.facts.edit(laps, count=laps.count + 1)

        rows = [ListRow(f"{laps.count} laps today", icon="timer")]
        return ui.page("Laps", rows, primary=("plus", "Add a lap", add), actions=[])


@distrl.register_task
@dataclass(frozen=True)
class RunLaps(Template):
    """Add laps that were run."""

    name = "laps.run"
    apps = ("Laps",)
    difficulty = "medium"
    phrasings = ("I ran {laps} laps. Add them", "Count {laps} more laps", "Add {laps} laps")
    touches = (Laps,)
    laps: int = parameter(LAPS)

    def missing(self, start: View, end: View) -> str | None:
        run = end.one(Laps).count - start.one(Laps).count
        return None if run == self.laps else f"{run} laps were added, not {self.laps}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Laps")
        for _ in range(self.laps):
            yield Press("Add a lap")


if __name__ == "__main__":
    for agent in ("scripted", "done", "starter"):
        print(agent, distrl.evaluate(agent, templates="laps.run", episodes=5))
