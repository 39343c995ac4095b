"""Tasks in the app To-do."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

from distrl.records import Difficulty
from phonesim.apps.notes import Note
from phonesim.contents.todo_items import TodoItem, TodoList
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.days import DAYS, SaidDay, date_words, pick, states_date, today_of
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.general.notes import TITLES
from phonesim.tasks.moves import Fill, GoHome, Hold, Move, Open, Press, Reveal, Say, Toggle
from phonesim.tasks.template import Template, View

LISTS = Domain(
    "to-do lists",
    (
        "Personal", "Work", "Groceries", "Holiday", "Garden", "Household", "School", "Reading",
        "Party", "Moving house", "Repairs", "Errands",
    ),
)  # fmt: skip
ITEMS = Domain(
    "to-do items",
    (
        "Buy stamps", "Order new glasses", "Clean the oven", "Pay the rent", "Pick up the parcel",
        "Write to Amara", "Sharpen the knives", "Oil the hinges", "Book a table", "Sell the sofa",
        "Descale the kettle", "Draft the speech", "Find the warranty", "Measure the window",
        "Get fresh basil", "Reply to Tom", "Sort the photos", "Mend the fence", "Learn the song",
        "Charge the drill", "Count the chairs", "Bring back the ladder",
    ),
)  # fmt: skip
FILLERS = (
    "Make a plan", "Ask around", "Compare prices", "Take pictures", "Tidy up", "Call back",
    "Check the dates", "Print the form",
)  # fmt: skip


def ensure_list(facts: Facts, rng: random.Random, name: str) -> TodoList:
    """Return the list of that name; add one with four items if there is none."""
    found = facts.find(TodoList, lambda each: each.name == name)
    if found is None:
        found = facts.add(TodoList(name=name))
        for title in rng.sample(FILLERS, 4):
            facts.add(TodoItem(list_id=found.id, title=title, done=rng.random() < 0.2))
    return found


def list_called(view: View, name: str) -> TodoList:
    return next(each for each in view.all(TodoList) if each.name == name)


def item_on(view: View, place: str, title: str) -> TodoItem:
    list_id = list_called(view, place).id
    return next(i for i in view.all(TodoItem) if (i.list_id, i.title) == (list_id, title))


def add_twin(facts: Facts, rng: random.Random, title: str, *places: str) -> None:
    """Add an item of the same name to a list other than these, so that the list matters."""
    others = facts.where(TodoList, lambda each: each.name not in places)
    facts.add(TodoItem(list_id=rng.choice(others).id, title=title))


@dataclass(frozen=True)
class AddItem(Template):
    name = "todo.add"
    apps = ("To-do",)
    difficulty: ClassVar[Difficulty] = "medium"
    phrasings = (
        'Add "{item}" to my {place} list in To-do',
        'Put "{item}" on the to-do list {place}',
        'I must not forget this: "{item}". It belongs on the list {place} in To-do',
    )
    touches = (TodoItem,)
    item: str = parameter(ITEMS)
    place: str = parameter(LISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        ensure_list(facts, rng, self.place)

    def missing(self, start: View, end: View) -> str | None:
        return self._not_added(start, end, None)

    def _not_added(self, start: View, end: View, due: date | None) -> str | None:
        place = list_called(start, self.place).id
        wanted = {"title": self.item, "list_id": place, "due": due}
        return only_added(start, end, TodoItem, **wanted, done=False, starred=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.place)
        yield Press("New item")
        yield Fill("What is to be done?", self.item)
        yield Press("Save")


@dataclass(frozen=True)
class AddItemWithDay(AddItem):
    name = "todo.add_due"
    difficulty = "hard"
    phrasings = (
        'Add "{item}" to the to-do list {place}, due {day}',
        'On my {place} list in To-do, add "{item}" with {day} as the due day',
        'New item for the list {place}: "{item}". It is due {when}',
    )
    day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.day.when}

    def missing(self, start: View, end: View) -> str | None:
        return self._not_added(start, end, self.day.after(start.now.date()))

    def solve(self, start: View) -> Iterable[Move]:
        today = start.now.date()
        yield Open("To-do")
        yield Press(self.place)
        yield Press("New item")
        yield Fill("What is to be done?", self.item)
        yield Press("Pick a day")
        yield from pick(self.day.after(today), today)
        yield Press("Save")


@dataclass(frozen=True)
class CheckOff(Template):
    name = "todo.check"
    apps = ("To-do",)
    difficulty: ClassVar[Difficulty] = "easy"
    phrasings = (
        'Check off "{item}" on my {place} list in To-do',
        'I have done "{item}". Tick it off the to-do list {place}',
        'Mark "{item}" on the list {place} as done',
    )
    touches = (TodoItem,)
    item: str = parameter(ITEMS)
    place: str = parameter(LISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.add(TodoItem(list_id=ensure_list(facts, rng, self.place).id, title=self.item))
        add_twin(facts, rng, self.item, *self._places())

    def _places(self) -> tuple[str, ...]:
        """The lists that the task names."""
        return (self.place,)

    def _item(self, view: View) -> int:
        return item_on(view, self.place, self.item).id

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, TodoItem, self._item(start), done=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.place)
        yield Toggle(self.item, True, role="checkbox")


@dataclass(frozen=True)
class StarItem(CheckOff):
    name = "todo.star"
    phrasings = (
        'Star the item "{item}" on my {place} list in To-do',
        '"{item}" on the to-do list {place} is important. Give it a star',
        'Put a star on "{item}" in the list {place}',
    )

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, TodoItem, self._item(start), starred=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.place)
        yield Press(f"Star {self.item}")


@dataclass(frozen=True)
class DeleteItem(CheckOff):
    name = "todo.delete"
    difficulty = "medium"
    phrasings = (
        'Delete "{item}" from my {place} list in To-do',
        'Remove the item "{item}" from the to-do list {place}',
        '"{item}" is no longer needed. Delete it from the list {place}; do not just tick it off',
    )

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, TodoItem, self._item(start))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.place)
        yield Hold(self.item)
        yield Press("Delete")


@dataclass(frozen=True)
class MoveItem(CheckOff):
    name = "todo.move"
    difficulty = "medium"
    phrasings = (
        'Move the item "{item}" from the to-do list {place} to {other}',
        '"{item}" is on the wrong list in To-do: it belongs on {other}, not on {place}',
        'In To-do, take "{item}" from {place} over to the list {other}',
    )
    other: str = parameter(LISTS)

    def sensible(self) -> bool:
        return self.place != self.other

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        super().prepare(facts, rng)
        ensure_list(facts, rng, self.other)

    def _places(self) -> tuple[str, ...]:
        return (self.place, self.other)

    def missing(self, start: View, end: View) -> str | None:
        other = list_called(start, self.other).id
        return only_changed(start, end, TodoItem, self._item(start), list_id=other)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.place)
        yield Press(self.item, role="row")
        yield Press(self.other, role="button")
        yield Press("Save")


@dataclass(frozen=True)
class WhenIsItDue(Template):
    name = "todo.ask_due"
    apps = ("To-do",)
    difficulty = "easy"
    phrasings = (
        'When is "{item}" on my {place} list in To-do due? Give the date',
        'What is the due date of "{item}" on the to-do list {place}?',
        'By which date do I have to do this: "{item}"? It is on the list {place}',
    )
    item: str = parameter(ITEMS)
    place: str = parameter(LISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        due = today_of(facts) + timedelta(days=rng.randrange(1, 25))
        place = ensure_list(facts, rng, self.place).id
        facts.add(TodoItem(list_id=place, title=self.item, due=due))
        add_twin(facts, rng, self.item, self.place)

    def missing(self, start: View, end: View) -> str | None:
        due = item_on(start, self.place, self.item).due
        right = due is not None and states_date(end.answer, due)
        return None if right else f"the answer should be {due}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        due = item_on(start, self.place, self.item).due
        yield Open("To-do")
        yield Press(self.place)
        yield Reveal(self.item)
        yield Say(date_words(due) if due else "It has no due day")


@dataclass(frozen=True)
class NoteToItem(Template):
    name = "todo.add_from_note"
    apps = ("Notes", "To-do")
    difficulty = "hard"
    held_out = True
    phrasings = (
        'My note "{note}" says what to do. Add exactly that to the to-do list {place}',
        'Read the note "{note}" and put its text on my {place} list in To-do',
        'Copy the text of the note "{note}" into a new item on the to-do list {place}',
    )
    touches = (TodoItem,)
    note: str = parameter(TITLES)
    item: str = parameter(ITEMS)
    place: str = parameter(LISTS)

    def words(self) -> dict[str, str]:
        return {"note": self.note, "place": self.place}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.add(Note(title=self.note, text=self.item))
        ensure_list(facts, rng, self.place)

    def missing(self, start: View, end: View) -> str | None:
        place = list_called(start, self.place).id
        return only_added(start, end, TodoItem, title=self.item, list_id=place, done=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Reveal(self.note)
        yield GoHome()
        yield Open("To-do")
        yield Press(self.place)
        yield Press("New item")
        yield Fill("What is to be done?", self.item)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    AddItem, AddItemWithDay, CheckOff, StarItem, DeleteItem, MoveItem, WhenIsItDue, NoteToItem,
)  # fmt: skip
