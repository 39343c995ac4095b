"""To-do: lists of items to tick off, with a due day and a star."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from phonesim.app import App, Ui, Window
from phonesim.contents.todo_items import ORDERS, TodoItem, TodoList, furnish_items
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Flow, Pad, Space
from phonesim.toolkit.checklist import CheckRow
from phonesim.toolkit.controls import Button, Chip, IconButton
from phonesim.toolkit.month import MonthGrid, day_words, month_bar, month_of
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Progress, Text
from phonesim.toolkit.widget import Widget

MAX_ROWS = 40


class TodoApp(App):
    """Lists, and the items in them."""

    name = "To-do"
    icon = "todo"
    color = (92, 88, 214)
    kinds = (TodoList, TodoItem)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_items(facts, rng, now.date())

    # Lists -------------------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        items = ui.facts.all(TodoItem)
        starred = sum(item.starred and not item.done for item in items)
        dated = sum(item.due is not None and not item.done for item in items)
        views: list[Widget] = [
            ListRow("Starred", icon="star", trailing=str(starred), on_tap=lambda: ui.go("starred")),
            ListRow("Planned", icon="clock", trailing=str(dated), on_tap=lambda: ui.go("planned")),
        ]
        lists = [self._list_row(ui, each, items) for each in ui.facts.all(TodoList)]
        rows = [*views, Heading("Lists"), *lists]
        if ui.version == 2:  # version 2 of the app shows the user's lists first
            rows = [*lists, Heading("Views"), *views]
        return ui.page(
            "To-do",
            [*self._progress(items), *rows, Space(76)],
            actions=[IconButton("search", "Search items", lambda: ui.go("search"))],
            primary=("plus", "New list", lambda: ui.go("name_list", 0)),
        )

    def _progress(self, items: Sequence[TodoItem]) -> list[Widget]:
        done = sum(item.done for item in items)
        words = f"{done} of {len(items)} done"
        bar = Progress(done / max(1, len(items)), words)
        return [Pad(Text(words, "small", "muted"), top=12, bottom=2), Pad(bar, top=0)]

    def _list_row(self, ui: Ui, each: TodoList, items: Sequence[TodoItem]) -> ListRow:
        count = sum(item.list_id == each.id and not item.done for item in items)
        return ListRow(
            each.name,
            icon="list",
            trailing=str(count),
            on_tap=lambda: ui.go("items", each.id),
            on_hold=lambda: ui.go("list_menu", each.id),
        )

    def starred(self, ui: Ui) -> Window:
        found = ui.facts.where(TodoItem, lambda item: item.starred)
        return ui.page("Starred", _item_rows(ui, found) or [Empty("No stars yet", "star")])

    def planned(self, ui: Ui) -> Window:
        found = ui.facts.where(TodoItem, lambda item: item.due is not None)
        found = tuple(sorted(found, key=ORDERS["Due day"]))
        return ui.page("Planned", _item_rows(ui, found) or [Empty("Nothing planned", "calendar")])

    def search(self, ui: Ui) -> Window:
        query = ui.text("query").casefold()
        found = ui.facts.where(TodoItem, lambda item: query in item.title.casefold())
        return ui.page(
            "Search",
            _item_rows(ui, found) or [Empty("No such item", "search")],
            head=Pad(ui.field("query", "Search items", icon="search"), sides=12, top=4, bottom=4),
        )

    def name_list(self, ui: Ui, list_id: int) -> Window:
        def save() -> None:
            name = ui.text("name").strip()
            if not name:
                ui.say("A list needs a name")
            elif list_id:
                ui.facts.edit(ui.facts.get(TodoList, list_id), name=name)
            else:
                ui.facts.add(TodoList(name=name))

        title = "Rename list" if list_id else "New list"
        done = "Rename" if list_id else "Create"
        return ui.dialog(title, [ui.field("name", "List name")], {"Cancel": None, done: save})

    # One list ----------------------------------------------------------------------------------

    def items(self, ui: Ui, list_id: int) -> Window:
        shown = ui.facts.get(TodoList, list_id)
        items = ui.facts.where(TodoItem, lambda item: item.list_id == list_id)
        rows = _item_rows(ui, sorted(items, key=ORDERS[shown.order]))
        return ui.page(
            shown.name,
            rows or [Empty("Nothing to do", "todo")],
            actions=[
                IconButton("sort", "Sort", lambda: ui.go("sort", list_id)),
                IconButton("more", "More options", lambda: ui.go("list_menu", list_id)),
            ],
            primary=("plus", "New item", lambda: ui.go("item", 0, list_id=list_id)),
        )

    def sort(self, ui: Ui, list_id: int) -> Window:
        shown = ui.facts.get(TodoList, list_id)

        def choose(order: str) -> Handler:
            return lambda: ui.facts.edit(shown, order=order)

        return ui.sheet("Sort by", {order: choose(order) for order in ORDERS}, chosen=shown.order)

    def list_menu(self, ui: Ui, list_id: int) -> Window:
        shown = ui.facts.get(TodoList, list_id)

        def clear() -> None:
            ui.facts.remove_where(TodoItem, lambda item: item.list_id == list_id and item.done)
            ui.say("Completed items cleared")

        return ui.menu(
            {
                "Rename list": lambda: ui.go("name_list", list_id, name=shown.name),
                "Clear completed": clear,
                "Delete list": lambda: ui.go("confirm_delete_list", list_id),
            }
        )

    def confirm_delete_list(self, ui: Ui, list_id: int) -> Window:
        shown = ui.facts.get(TodoList, list_id)

        def delete() -> None:
            ui.facts.remove_where(TodoItem, lambda item: item.list_id == list_id)
            ui.facts.remove(shown)

        text = f"“{shown.name}” and everything on it will be gone."
        return ui.dialog("Delete list?", text, {"Cancel": None, "Delete": delete})

    # One item ----------------------------------------------------------------------------------

    def item(self, ui: Ui, item_id: int) -> Window:
        """The form of an item; id 0 is a new one. The page's memory holds the draft."""
        if item_id:
            ui.facts.get(TodoItem, item_id)  # if deleted, MissingFact closes the page
        due, lists = ui.get("due"), ui.facts.all(TodoList)
        place = [Chip(each.name, _setter(ui, "list_id", each.id), each.id == ui.get("list_id"))
                 for each in lists]  # fmt: skip
        starred = bool(ui.get("starred", False))
        actions = [IconButton("check", "Save", lambda: _save(ui, item_id))]
        if item_id:
            delete = IconButton("trash", "Delete", lambda: ui.go("confirm_delete", item_id))
            actions.insert(0, delete)
        body: list[Widget] = [
            Pad(ui.field("title", "What is to be done?"), bottom=4),
            ListRow(
                "Starred", icon="star", switch=starred, on_tap=_setter(ui, "starred", not starred)
            ),
            Heading("Due"),
            Pad(Text(day_words(date.fromisoformat(due)) if due else "No day", "body"), top=2),
            Pad(Flow(_due_chips(ui, due)), top=2),
            Heading("List"),
            Pad(Flow(place), top=4),
        ]
        return ui.page("Edit item" if item_id else "New item", body, actions=actions)

    def choose_due(self, ui: Ui, due: str | None) -> Window:
        chosen = date.fromisoformat(due) if due else None
        shown = ui.text("month", month_of(chosen or ui.now.date()).isoformat())
        month = date.fromisoformat(shown)

        def choose(day: date) -> None:
            ui.back()
            ui.set("due", day.isoformat())

        bar = month_bar(
            month,
            lambda turned: ui.set("month", turned.isoformat()),
            lambda: ui.set("month", month_of(ui.now.date()).isoformat()),
            ui.language,
        )
        grid = MonthGrid(month, ui.now.date(), choose, chosen)
        return ui.page("Choose a day", [Pad(bar, sides=8), Pad(grid, sides=8, top=0)])

    def confirm_delete(self, ui: Ui, item_id: int) -> Window:
        item = ui.facts.get(TodoItem, item_id)

        def delete() -> None:
            ui.facts.remove(item)
            ui.say("Item deleted")

        text = f"“{item.title}” will be gone."
        return ui.dialog("Delete item?", text, {"Cancel": None, "Delete": delete})


def _setter(ui: Ui, key: str, value: str | int | bool | None) -> Handler:
    return lambda: ui.set(key, value)


def _due_chips(ui: Ui, due: str | None) -> list[Widget]:
    today = ui.now.date()
    near = {"Today": today, "Tomorrow": today + timedelta(days=1)}
    return [
        Chip("No day", _setter(ui, "due", None), due is None),
        *(Chip(words, _setter(ui, "due", day.isoformat()), due == day.isoformat())
          for words, day in near.items()),
        Button("Pick a day", lambda: ui.go("choose_due", due), "soft", "calendar", high=32),
    ]  # fmt: skip


def _item_rows(ui: Ui, items: Sequence[TodoItem]) -> list[Widget]:
    """Return open items first, then the done ones under their own heading."""
    still, done = [i for i in items if not i.done], [i for i in items if i.done]
    rows: list[Widget] = [_item_row(ui, item) for item in still[:MAX_ROWS]]
    if done:
        rows += [Heading(f"Completed ({len(done)})"), *(_item_row(ui, item) for item in done[:20])]
    return [*rows, Space(76)] if rows else []


def _item_row(ui: Ui, item: TodoItem) -> CheckRow:
    return CheckRow(
        item.title,
        item.done,
        on_check=lambda: ui.facts.edit(item, done=not item.done),
        on_tap=lambda: ui.go(
            "item",
            item.id,
            title=item.title,
            list_id=item.list_id,
            due=item.due.isoformat() if item.due else None,
            starred=item.starred,
        ),
        on_hold=lambda: ui.go("confirm_delete", item.id),
        detail=f"Due {day_words(item.due)}" if item.due else "",
        urgent=item.due is not None and item.due < ui.now.date(),
        button=(
            "star_filled" if item.starred else "star",
            f"{'Remove star from' if item.starred else 'Star'} {item.title}",
            lambda: ui.facts.edit(item, starred=not item.starred),
        ),
        lit=item.starred,
    )


def _save(ui: Ui, item_id: int) -> None:
    title, due = ui.text("title").strip(), ui.get("due")
    if not title:
        ui.say("Say what is to be done first")
        return
    fields = {
        "title": title,
        "list_id": ui.get("list_id"),
        "due": date.fromisoformat(due) if due else None,
        "starred": bool(ui.get("starred", False)),
    }
    if item_id:
        ui.facts.edit(ui.facts.get(TodoItem, item_id), **fields)
    else:
        ui.facts.add(TodoItem(**fields))
    ui.back()
    ui.say("Item saved")
