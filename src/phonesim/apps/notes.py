"""Notes: write, search, label, pin, copy, archive and delete them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Card, Column, Grid, Pad, Row, Space
from phonesim.toolkit.controls import Chip, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Icon, Text
from phonesim.toolkit.widget import Widget

LABELS = ("Home", "Work", "Ideas", "Travel", "Family", "Money")
MAX_ROWS = 40


@dataclass(frozen=True, slots=True)
class Note:
    """A note. `label` is one of `LABELS`, or empty."""

    id: int = 0
    title: str = ""
    text: str = ""
    pinned: bool = False
    label: str = ""
    archived: bool = False


FIRST_NOTES = (
    ("Groceries", "Oats, lentils, olive oil", "Home"),
    ("Books to read", "The one about the lighthouse, the one about bees", ""),
    ("Garden", "Water the tomatoes on Sunday", "Home"),
    ("Meeting points", "Budget, hiring, summer party", "Work"),
    ("Gift ideas", "A teapot, a map, a kite", "Ideas"),
    ("Recipe", "Two eggs, flour, milk, a pinch of salt", "Home"),
    ("Train times", "There at 8:12, back at 17:40", "Travel"),
    ("Standup", "Finished the draft, next the figures", "Work"),
    ("Names for the boat", "Pelican, Second Wind, Marmalade", "Ideas"),
    ("Hotel", "Third floor, breakfast until ten", "Travel"),
    ("Shoe sizes", "Ada 31, Bo 34, Cleo 38", "Family"),
    ("Savings", "A bit each month for the new roof", "Money"),
)


class NotesApp(App):
    """A list of notes, pinned ones first."""

    name = "Notes"
    icon = "note"
    color = (232, 165, 30)
    kinds = (Note,)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        for index, (title, text, label) in enumerate(rng.sample(FIRST_NOTES, 7)):
            facts.add(Note(title=title, text=text, label=label, archived=index == 6))

    # Lists -------------------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        query, label = ui.text("query").casefold(), ui.get("label", "")
        found = ui.facts.where(
            Note,
            lambda n: (
                not n.archived
                and label in ("", n.label)
                and query in f"{n.title} {n.text}".casefold()
            ),
        )
        head: list[Widget] = [ui.field("query", "Search notes", icon="search")]
        if label:
            head.append(Row([Chip(label, lambda: ui.set("label", ""), selected=True)]))
        return ui.page(
            "Notes",
            self._notes(ui, sorted(found, key=lambda n: not n.pinned))
            or [Empty("No notes", "note")],
            head=Pad(Column(head, gap=6), sides=12, top=4, bottom=6),
            actions=[
                IconButton("filter", "Filter by label", lambda: ui.go("filter", label)),
                IconButton("archive", "Archived notes", lambda: ui.go("archive")),
            ],
            primary=("plus", "New note", lambda: ui.go("edit", 0)),
        )

    def filter(self, ui: Ui, current: str) -> Window:
        def show(label: str) -> Handler:
            return lambda: ui.set("label", label)

        choices = {label or "All notes": show(label) for label in ("", *LABELS)}
        return ui.sheet("Show", choices, chosen=current or "All notes")

    def archive(self, ui: Ui) -> Window:
        notes = ui.facts.where(Note, lambda note: note.archived)
        empty: list[Widget] = [Empty("Nothing archived", "archive")]
        return ui.page("Archive", self._notes(ui, notes) or empty)

    def _notes(self, ui: Ui, notes: Sequence[Note]) -> list[Widget]:
        if not notes:
            return []
        shown = notes[:MAX_ROWS]
        if ui.version == 2:  # version 2 of the app shows notes as cards
            return [Pad(Grid([_card(ui, note) for note in shown], 2, 10), sides=12), Space(76)]
        return [*(_row(ui, note) for note in shown), Space(76)]

    def note_menu(self, ui: Ui, note_id: int) -> Window:
        note = ui.facts.get(Note, note_id)

        def change(**fields: str | bool) -> Handler:
            return lambda: ui.facts.edit(note, **fields)

        def duplicate() -> None:
            ui.facts.add(replace(note, title=f"{note.title} (copy)"))
            ui.say("Note copied")

        return ui.sheet(
            note.title or "Untitled",
            {
                "Unpin" if note.pinned else "Pin": change(pinned=not note.pinned),
                "Make a copy": duplicate,
                "Change label": lambda: ui.go("choose_label", note_id),
                "Unarchive" if note.archived else "Archive": change(archived=not note.archived),
                "Delete": lambda: ui.go("confirm_delete", note_id),
            },
        )

    def choose_label(self, ui: Ui, note_id: int) -> Window:
        note = ui.facts.get(Note, note_id)

        def choose(label: str) -> Handler:
            return lambda: ui.facts.edit(note, label=label)

        choices = {label or "No label": choose(label) for label in ("", *LABELS)}
        return ui.sheet("Label", choices, chosen=note.label or "No label")

    # One note ----------------------------------------------------------------------------------

    def edit(self, ui: Ui, note_id: int) -> Window:
        if note_id:
            ui.facts.get(Note, note_id)  # if it was deleted, MissingFact closes the page

        def save() -> None:
            title, text = ui.text("title"), ui.text("text")
            if note_id:
                ui.facts.edit(ui.facts.get(Note, note_id), title=title, text=text)
            else:
                ui.facts.add(Note(title=title, text=text))
            ui.back()
            ui.say("Note saved")

        actions = [IconButton("check", "Save", save)]
        if note_id:
            actions = [
                IconButton("more", "More options", lambda: ui.go("note_menu", note_id)),
                IconButton("trash", "Delete", lambda: ui.go("confirm_delete", note_id)),
                *actions,
            ]
        return ui.page(
            "Edit note" if note_id else "New note",
            [
                Pad(ui.field("title", "Title"), bottom=0),
                Pad(ui.field("text", "Text", lines=4)),
            ],
            actions=actions,
        )

    def confirm_delete(self, ui: Ui, note_id: int) -> Window:
        note = ui.facts.get(Note, note_id)

        def delete() -> None:
            ui.facts.remove(note)
            ui.say("Note deleted")

        return ui.dialog(
            "Delete note?", f"“{note.title}” will be gone.", {"Cancel": None, "Delete": delete}
        )


def _open(ui: Ui, note: Note) -> Handler:
    return lambda: ui.go("edit", note.id, title=note.title, text=note.text)


def _row(ui: Ui, note: Note) -> ListRow:
    return ListRow(
        note.title or "Untitled",
        note.text,
        trailing=note.label,
        icon="pin" if note.pinned else "note",
        on_tap=_open(ui, note),
        on_hold=lambda: ui.go("note_menu", note.id),
        detail_lines=1,
    )


def _card(ui: Ui, note: Note) -> Card:
    title: Widget = Text(note.title or "Untitled", "strong", max_lines=2)
    if note.pinned:
        title = Row([title, Icon("pin", 16, "primary")], stretch=0)
    lines: list[Widget] = [title, Text(note.text, "small", "muted", max_lines=2)]
    if note.label:
        lines.append(Text(note.label, "tiny", "primary"))
    return Card(
        Column(lines, gap=4),
        note.title or "Untitled",
        on_tap=_open(ui, note),
        on_hold=lambda: ui.go("note_menu", note.id),
    )
