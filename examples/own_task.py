"""A task of your own with an app of the simulated phone: its words, its goal, its solution."""

from collections.abc import Iterable
from dataclasses import dataclass

import distrl
from phonesim.apps.notes import Note
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View, added

BIRDS = Domain("birds", ("Wren", "Robin", "Heron", "Kestrel", "Siskin", "Dunnock"))


@distrl.register_task
@dataclass(frozen=True)
class NoteTheBird(Template):
    """Write down a bird that was seen."""

    name = "birds.note"
    apps = ("Notes",)
    difficulty = "medium"
    phrasings = ("I saw a {bird}. Note it", "Make a note called {bird}", "Note down: {bird}")
    touches = (Note,)
    bird: str = parameter(BIRDS)

    def missing(self, start: View, end: View) -> str | None:
        titles = [note.title for note in added(start, end, Note)]
        return None if titles == [self.bird] else f"the new notes are {titles}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.bird)
        yield Press("Save")


if __name__ == "__main__":
    tasks = [f"birds.note/test/{number}" for number in range(5)]
    for agent in ("scripted", "done", "starter"):
        print(agent, distrl.evaluate(agent, tasks=tasks))
