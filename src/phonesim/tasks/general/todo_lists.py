"""Tasks in the app To-do that are about whole lists."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.todo_items import TodoItem, TodoList
from phonesim.facts import Facts
from phonesim.tasks.answers import states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.general.todo import ITEMS, LISTS, ensure_list, list_called
from phonesim.tasks.moves import Fill, Hold, Move, Open, Press, Say
from phonesim.tasks.template import Template, View

NEW_LISTS = Domain(
    "new to-do lists",
    (
        "Camping", "Wedding", "Christmas", "Exam", "Hardware shop", "Vet", "Launch", "Attic",
        "Road trip", "Choir", "New job", "Winter",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class ClearCompleted(Template):
    name = "todo.clear_completed"
    apps = ("To-do",)
    difficulty = "medium"
    phrasings = (
        "Clear the completed items from my {place} list in To-do",
        "Tidy up the to-do list {place}: throw out everything that is ticked off",
        "Remove all finished items from the list {place}",
    )
    touches = (TodoItem,)
    place: str = parameter(LISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        place = ensure_list(facts, rng, self.place)
        for title in rng.sample(ITEMS.train, rng.randrange(1, 4)):
            facts.add(TodoItem(list_id=place.id, title=title, done=True))

    def missing(self, start: View, end: View) -> str | None:
        place = list_called(start, self.place).id
        done = [item.id for item in start.all(TodoItem) if item.list_id == place and item.done]
        return only_removed(start, end, TodoItem, *done)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.place)
        yield Press("More options")
        yield Press("Clear completed")


@dataclass(frozen=True)
class CreateList(Template):
    name = "todo.create_list"
    apps = ("To-do",)
    difficulty = "medium"
    phrasings = (
        'Create a new list called "{place}" in To-do',
        'I need a to-do list named "{place}"',
        'Start a list "{place}" in the to-do app',
    )
    touches = (TodoList,)
    place: str = parameter(NEW_LISTS)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, TodoList, name=self.place)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press("New list")
        yield Fill("List name", self.place)
        yield Press("Create")


@dataclass(frozen=True)
class RenameList(Template):
    name = "todo.rename_list"
    apps = ("To-do",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        'Rename the to-do list "{place}" to "{new}"',
        'My to-do list "{place}" should be called "{new}" from now on',
        'Change the name of my list "{place}" to "{new}"',
    )
    touches = (TodoList,)
    place: str = parameter(LISTS)
    new: str = parameter(NEW_LISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        ensure_list(facts, rng, self.place)

    def missing(self, start: View, end: View) -> str | None:
        place = list_called(start, self.place).id
        return only_changed(start, end, TodoList, place, name=self.new)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Hold(self.place)
        yield Press("Rename list")
        yield Fill("List name", self.new)
        yield Press("Rename")


@dataclass(frozen=True)
class HowManyDone(Template):
    name = "todo.ask_done"
    apps = ("To-do",)
    difficulty = "easy"
    phrasings = (
        "How many items on my {place} list in To-do are completed?",
        "How many things on the to-do list {place} have I ticked off?",
        "Count the finished items on the list {place}",
    )
    place: str = parameter(LISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        place = ensure_list(facts, rng, self.place)
        for title in rng.sample(ITEMS.train, rng.randrange(1, 12)):
            facts.add(TodoItem(list_id=place.id, title=title, done=True))

    def _count(self, view: View) -> int:
        place = list_called(view, self.place).id
        return sum(item.list_id == place and item.done for item in view.all(TodoItem))

    def missing(self, start: View, end: View) -> str | None:
        count = self._count(start)
        right = states_number(end.answer, count)
        return None if right else f"the answer should be {count}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.place)
        yield Say(f"{self._count(start)} items are done")


TEMPLATES: tuple[type[Template], ...] = (ClearCompleted, CreateList, RenameList, HowManyDone)
