"""Files: browse folders; rename, move, copy, delete and restore files."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.contents.file_records import (
    CAPACITY,
    ICONS,
    SYSTEM,
    FileOrder,
    Folder,
    StoredFile,
    ending,
    furnish_files,
    path_words,
    size_words,
)
from phonesim.facts import Facts, MissingFact
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Card, Column, Grid, Pad, Row, Space
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.month import MONTHS, day_words
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Progress, Text
from phonesim.toolkit.widget import Widget

ORDERS: dict[str, Callable[[StoredFile], tuple[object, ...]]] = {
    "Name": lambda file: (file.name.casefold(),),
    "Size": lambda file: (-file.kilobytes, file.name),
    "Date": lambda file: (-file.changed.toordinal(), file.name),
}
FOLDER_ICONS = {
    "Downloads": "download", "Pictures": "image", "Music": "music", "Videos": "video",
}  # fmt: skip


class FilesApp(App):
    """The browser of the phone's storage."""

    name = "Files"
    icon = "folder"
    color = (20, 130, 150)
    kinds = (Folder, StoredFile, FileOrder)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_files(facts, rng, now.date())

    # Walking through ---------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        top = ui.facts.where(Folder, lambda folder: not folder.parent_id)
        trashed = len(ui.facts.where(StoredFile, lambda file: file.trashed))
        trash = ListRow("Trash", _count(trashed), icon="trash", on_tap=lambda: ui.go("trash"))
        storage = Pad(self._storage(ui), top=12)
        rows: list[Widget] = [Heading("Folders"), *(_folder_row(ui, folder) for folder in top)]
        rows = [*rows, trash, storage] if ui.version == 2 else [storage, *rows, trash]
        return ui.page(
            "Files",
            [*rows, Space(76)],
            actions=[IconButton("search", "Search files", lambda: ui.go("search"))],
            primary=("plus", "New folder", lambda: ui.go("new_folder", 0)),
        )

    def _storage(self, ui: Ui) -> Widget:
        used = SYSTEM + sum(file.kilobytes for file in ui.facts.all(StoredFile))
        words = f"{size_words(used)} of {size_words(CAPACITY)} used"
        title = Row([Icon("storage", 20, "primary"), Text("Storage", "strong")])
        return Card(
            Column([title, Progress(used / CAPACITY), Text(words, "small", "muted")], gap=8)
        )

    def folder(self, ui: Ui, folder_id: int) -> Window:
        shown = ui.facts.get(Folder, folder_id)
        inner = ui.facts.where(Folder, lambda folder: folder.parent_id == folder_id)
        files = ui.facts.where(StoredFile, lambda f: f.folder_id == folder_id and not f.trashed)
        rows = [*(_folder_row(ui, each) for each in inner), *_file_rows(ui, files)]
        where = f"{path_words(ui.facts, shown)} · {_count(len(files))}"
        actions = [IconButton("sort", "Sort", lambda: ui.go("sort"))]
        if not inner and not ui.facts.find(StoredFile, lambda file: file.folder_id == folder_id):
            remove = IconButton("trash", "Delete folder", lambda: ui.go("delete_folder", folder_id))
            actions.append(remove)
        return ui.page(
            shown.name,
            [*rows, Space(76)] if rows else [Empty("Nothing in here", "folder")],
            head=Pad(Text(where, "small", "muted"), top=6, bottom=6),
            actions=actions,
            primary=("plus", "New folder", lambda: ui.go("new_folder", folder_id)),
        )

    def sort(self, ui: Ui) -> Window:
        def choose(order: str) -> Handler:
            return lambda: ui.facts.change(FileOrder, by=order)

        choices = {order: choose(order) for order in ORDERS}
        return ui.sheet("Sort by", choices, chosen=ui.facts.one(FileOrder).by)

    def search(self, ui: Ui) -> Window:
        query = ui.text("query").casefold()
        found = ui.facts.where(
            StoredFile, lambda file: query in file.name.casefold() and not file.trashed
        )
        return ui.page(
            "Search",
            _file_rows(ui, found[:40]) or [Empty("No such file", "search")],
            head=Pad(ui.field("query", "Search files", icon="search"), sides=12, top=4, bottom=4),
        )

    # Folders -----------------------------------------------------------------------------------

    def new_folder(self, ui: Ui, parent_id: int) -> Window:
        def create() -> None:
            name = ui.text("name").strip()
            if name:
                ui.facts.add(Folder(name=name, parent_id=parent_id))
            ui.say("Folder created" if name else "A folder needs a name")

        field = ui.field("name", "Folder name")
        return ui.dialog("New folder", [field], {"Cancel": None, "Create": create})

    def delete_folder(self, ui: Ui, folder_id: int) -> Window:
        folder = ui.facts.get(Folder, folder_id)
        text = f"“{folder.name}” is empty."
        delete: dict[str, Handler | None] = {"Delete": lambda: ui.facts.remove(folder)}
        return ui.dialog("Delete folder?", text, {"Cancel": None, **delete})

    # One file ----------------------------------------------------------------------------------

    def file(self, ui: Ui, file_id: int) -> Window:
        file = ui.facts.get(StoredFile, file_id)
        if file.trashed:
            raise MissingFact(f"{file.name} is in the trash")
        buttons = [
            Button(label, act, "soft", icon) for label, (icon, act) in _deeds(ui, file).items()
        ]
        path = path_words(ui.facts, ui.facts.get(Folder, file.folder_id))
        picture = Pad(Icon(_icon_of(file), 72, "primary"), top=20, bottom=10)
        return ui.page(
            "Details",
            [
                picture,
                Pad(Text(file.name, "title", align="centre"), bottom=12),
                ListRow("Size", trailing=size_words(file.kilobytes), icon="storage"),
                ListRow("Changed", day_words(file.changed, year=True), icon="clock"),
                ListRow("Folder", path, icon="folder"),
                Pad(Grid(buttons, 2), top=16),
            ],
        )

    def file_menu(self, ui: Ui, file_id: int) -> Window:
        file = ui.facts.get(StoredFile, file_id)
        return ui.sheet(file.name, {label: act for label, (_, act) in _deeds(ui, file).items()})

    def rename(self, ui: Ui, file_id: int) -> Window:
        file = ui.facts.get(StoredFile, file_id)

        def save() -> None:
            name = ui.text("name").strip()
            if name:
                ui.facts.edit(file, name=name)
            ui.say("File renamed" if name else "A file needs a name")

        field = ui.field("name", "File name")
        return ui.dialog("Rename file", [field], {"Cancel": None, "Rename": save})

    def choose_folder(self, ui: Ui, file_id: int, copying: bool) -> Window:
        file = ui.facts.get(StoredFile, file_id)

        def put(folder: Folder) -> Handler:
            def into() -> None:
                if copying:
                    ui.facts.add(replace(file, folder_id=folder.id))
                else:
                    ui.facts.edit(file, folder_id=folder.id)
                ui.back()
                ui.say(f"{'Copied' if copying else 'Moved'} to {folder.name}")

            return into

        folders = ui.facts.where(Folder, lambda each: copying or each.id != file.folder_id)
        paths = [(path_words(ui.facts, each), each) for each in folders]
        rows = [
            ListRow(each.name, path if path != each.name else "", icon="folder", on_tap=put(each))
            for path, each in sorted(paths, key=lambda pair: pair[0])
        ]
        head = Pad(Text(f"{'Copy' if copying else 'Move'} “{file.name}” to", "strong"))
        return ui.page("Choose a folder", rows, head=head)

    def confirm_delete(self, ui: Ui, file_id: int) -> Window:
        file = ui.facts.get(StoredFile, file_id)

        def delete() -> None:
            ui.facts.edit(file, trashed=True)
            ui.say("Moved to the trash")

        text = f"“{file.name}” goes to the trash."
        return ui.dialog("Delete file?", text, {"Cancel": None, "Delete": delete})

    # Trash -------------------------------------------------------------------------------------

    def trash(self, ui: Ui) -> Window:
        files = ui.facts.where(StoredFile, lambda file: file.trashed)
        rows = [
            ListRow(
                file.name,
                size_words(file.kilobytes),
                icon=_icon_of(file),
                on_tap=_opener(ui, "trashed_file", file),
                on_hold=_opener(ui, "trashed_file", file),
            )
            for file in files
        ]
        empty = IconButton("trash", "Empty trash", lambda: ui.go("empty_trash"))
        return ui.page(
            "Trash",
            rows or [Empty("The trash is empty", "trash")],
            actions=[empty] if rows else [],
        )

    def trashed_file(self, ui: Ui, file_id: int) -> Window:
        file = ui.facts.get(StoredFile, file_id)
        return ui.sheet(
            file.name,
            {
                "Restore": lambda: ui.facts.edit(file, trashed=False),
                "Delete for good": lambda: ui.facts.remove(file),
            },
        )

    def empty_trash(self, ui: Ui) -> Window:
        def empty() -> None:
            ui.facts.remove_where(StoredFile, lambda file: file.trashed)

        return ui.dialog(
            "Empty the trash?", "Its files will be gone for good.", {"Cancel": None, "Empty": empty}
        )


def _opener(ui: Ui, page: str, file: StoredFile) -> Handler:
    return lambda: ui.go(page, file.id)


def _deeds(ui: Ui, file: StoredFile) -> dict[str, tuple[str, Handler]]:
    """Return the actions on a file: label, icon, handler."""
    return {
        "Rename": ("edit", lambda: ui.go("rename", file.id, name=file.name)),
        "Move": ("forward", lambda: ui.go("choose_folder", file.id, False)),
        "Copy": ("copy", lambda: ui.go("choose_folder", file.id, True)),
        "Delete": ("trash", lambda: ui.go("confirm_delete", file.id)),
    }


def _icon_of(file: StoredFile) -> str:
    return ICONS.get(ending(file.name), "file")


def _count(number: int) -> str:
    return f"{number} {'file' if number == 1 else 'files'}"


def _folder_row(ui: Ui, folder: Folder) -> ListRow:
    return ListRow(
        folder.name,
        icon=FOLDER_ICONS.get(folder.name, "folder"),
        on_tap=lambda: ui.go("folder", folder.id),
    )


def _file_rows(ui: Ui, files: Sequence[StoredFile]) -> list[ListRow]:
    order = ORDERS[ui.facts.one(FileOrder).by]
    return [
        ListRow(
            file.name,
            f"{file.changed.day} {MONTHS[file.changed.month - 1][:3]} {file.changed.year}",
            trailing=size_words(file.kilobytes),
            icon=_icon_of(file),
            on_tap=_opener(ui, "file", file),
            on_hold=_opener(ui, "file_menu", file),
        )
        for file in sorted(files, key=order)
    ]
