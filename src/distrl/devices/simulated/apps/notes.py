"""Notes: write, search, pin and delete them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime

from distrl.devices.simulated.app import App, Ui, Window
from distrl.devices.simulated.facts import Facts
from distrl.devices.simulated.toolkit.boxes import Pad
from distrl.devices.simulated.toolkit.controls import IconButton
from distrl.devices.simulated.toolkit.rows import Empty, ListRow


@dataclass(frozen=True, slots=True)
class Note:
    """A note."""

    id: int = 0
    title: str = ""
    text: str = ""
    pinned: bool = False


FIRST_NOTES = (
    ("Groceries", "Oats, lentils, olive oil"),
    ("Books to read", "The Left Hand of Darkness"),
    ("Garden", "Water the tomatoes on Sunday"),
    ("Meeting points", "Budget, hiring, summer party"),
    ("Gift ideas", "A teapot, a map, a kite"),
    ("Recipe", "Two eggs, flour, milk, a pinch of salt"),
)


class NotesApp(App):
    """A list of notes, pinned ones first."""

    name = "Notes"
    icon = "note"
    color = (232, 165, 30)
    kinds = (Note,)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        for title, text in rng.sample(FIRST_NOTES, 4):
            facts.add(Note(title=title, text=text))

    def home(self, ui: Ui) -> Window:
        query = ui.text("query").casefold()
        notes = ui.facts.where(Note, lambda n: query in f"{n.title} {n.text}".casefold())
        rows = [self._row(ui, note) for note in sorted(notes, key=lambda n: not n.pinned)]
        return ui.page(
            "Notes",
            rows or [Empty("No notes", "note")],
            head=Pad(ui.field("query", "Search notes", icon="search"), sides=12, top=4, bottom=4),
            primary=("plus", "New note", lambda: ui.go("edit", 0)),
        )

    def _row(self, ui: Ui, note: Note) -> ListRow:
        return ListRow(
            note.title or "Untitled",
            note.text,
            icon="pin" if note.pinned else "note",
            on_tap=lambda: ui.go("edit", note.id, title=note.title, text=note.text),
            on_hold=lambda: ui.go("note_menu", note.id),
        )

    def note_menu(self, ui: Ui, note_id: int) -> Window:
        note = ui.facts.get(Note, note_id)
        return ui.sheet(
            note.title or "Untitled",
            {
                "Unpin" if note.pinned else "Pin": lambda: ui.facts.edit(
                    note, pinned=not note.pinned
                ),
                "Delete": lambda: ui.go("confirm_delete", note_id),
            },
        )

    def edit(self, ui: Ui, note_id: int) -> Window:
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
            delete = IconButton("trash", "Delete", lambda: ui.go("confirm_delete", note_id))
            actions.insert(0, delete)
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
