"""The records of To-do: lists, items, sort orders, and the initial ones on a new phone."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta

from phonesim.facts import Facts


@dataclass(frozen=True, slots=True)
class TodoList:
    """A list of items. `order` is its sort order, a key of `ORDERS`.

    The order is a view and takes no part in comparisons of lists.
    """

    id: int = 0
    name: str = ""
    order: str = field(default="Order added", compare=False)


@dataclass(frozen=True, slots=True)
class TodoItem:
    """An item of a list."""

    id: int = 0
    list_id: int = 0
    title: str = ""
    done: bool = False
    due: date | None = None
    starred: bool = False


ORDERS: dict[str, Callable[[TodoItem], tuple[object, ...]]] = {
    "Order added": lambda item: (item.id,),
    "Due day": lambda item: (item.due or date.max, item.id),
    "Title": lambda item: (item.title.casefold(), item.id),
    "Starred first": lambda item: (not item.starred, item.id),
}
FIRST_ITEMS: dict[str, tuple[str, ...]] = {
    "Personal": (
        "Water the plants", "Renew the passport", "Call the landlord", "Return library books",
        "Fix the desk lamp", "Back up the laptop", "Wash the curtains", "Cancel the gym",
    ),
    "Work": (
        "Send the invoice", "Prepare the slides", "Answer the survey", "Review the contract",
        "Order name tags", "Update the roadmap", "Book a meeting room", "File expenses",
    ),
    "Groceries": (
        "Tomatoes", "Rye bread", "Butter", "Apples", "Rice", "Green tea", "Yoghurt", "Spinach",
    ),
    "Holiday": (
        "Book the ferry", "Find a cat sitter", "Buy sun cream", "Print the tickets",
        "Charge the camera", "Pack the tent",
    ),
}  # fmt: skip


def furnish_items(facts: Facts, rng: random.Random, today: date) -> None:
    """Add four lists with some of their items done."""
    for name, titles in FIRST_ITEMS.items():
        made = facts.add(TodoList(name=name))
        for title in rng.sample(titles, rng.randrange(4, len(titles))):
            due = today + timedelta(days=rng.randrange(-2, 14))
            facts.add(
                TodoItem(
                    list_id=made.id,
                    title=title,
                    done=rng.random() < 0.25,
                    due=due if rng.random() < 0.4 else None,
                    starred=rng.random() < 0.2,
                )
            )
