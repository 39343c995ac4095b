"""Tasks in the app Files, which is held out: no training task uses it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from phonesim.contents.file_records import (
    TOP_FOLDERS,
    Folder,
    StoredFile,
    some_size,
)
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.days import today_of
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.moves import Fill, Hold, Move, Open, Press
from phonesim.tasks.template import Template, View, added

FILES = Domain(
    "file names",
    (
        "lease.pdf", "recipe_book.pdf", "holiday.jpg", "voice_memo.mp3", "thesis.txt",
        "floor_plan.png", "payslip.pdf", "logo.png", "guest_list.csv", "draft.txt", "score.pdf",
        "birthday.mp4", "garden.jpg", "tickets.pdf", "backup.zip", "speech.txt", "passport.jpg",
        "report.pdf",
    ),
)  # fmt: skip
NEW_NAMES = Domain(
    "new file names",
    (
        "final", "archive_copy", "signed", "version_2", "for_anna", "checked", "scan_clean",
        "old", "ready", "to_print", "private", "shared",
    ),
)  # fmt: skip
FOLDERS = Domain("folders", (*TOP_FOLDERS, "Invoices", "Letters", "Screenshots"))
TOPS = Domain("top folders", TOP_FOLDERS)
NEW_FOLDERS = Domain(
    "new folders",
    (
        "Taxes", "Portugal", "School", "Contracts", "Memes", "Receipts", "Backup", "Sheet music",
        "Portraits", "Plans", "Warranty", "Podcasts",
    ),
)  # fmt: skip


def folder_called(facts: Facts, name: str) -> Folder:
    return next(folder for folder in facts.all(Folder) if folder.name == name)


def file_in(view: View, folder: str, name: str) -> StoredFile:
    place = folder_called(view.facts, folder).id
    return next(f for f in view.all(StoredFile) if (f.folder_id, f.name) == (place, name))


def trashed_file(view: View, name: str) -> StoredFile:
    return next(file for file in view.all(StoredFile) if file.trashed and file.name == name)


def add_twin(facts: Facts, rng: random.Random, name: str, *folders: str) -> None:
    """Add a file of the same name in a folder other than these, so that the folder matters."""
    add_file(facts, rng, name, rng.choice([top for top in TOP_FOLDERS if top not in folders]))


def add_file(
    facts: Facts, rng: random.Random, name: str, folder: str, *, trashed: bool = False
) -> None:
    place = folder_called(facts, folder).id
    day = today_of(facts) - timedelta(days=rng.randrange(1, 200))
    facts.add(StoredFile(0, name, place, some_size(name, rng), day, trashed))


def walk(facts: Facts, folder: str) -> Iterable[Move]:
    """Yield the moves that open the app and go to a folder."""
    yield Open("Files")
    parent = folder_called(facts, folder).parent_id
    if parent:
        yield Press(facts.get(Folder, parent).name)
    yield Press(folder)


@dataclass(frozen=True)
class DeleteFile(Template):
    name = "files.delete"
    apps = ("Files",)
    difficulty = "medium"
    phrasings = (
        "Delete the file {file} from the folder {folder}",
        "Move {file} in {folder} to the trash",
        "I do not need {file} in my {folder} folder any more. Please delete it",
    )
    touches = (StoredFile,)
    file: str = parameter(FILES)
    folder: str = parameter(FOLDERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_file(facts, rng, self.file, self.folder)
        add_twin(facts, rng, self.file, self.folder)

    def missing(self, start: View, end: View) -> str | None:
        file = file_in(start, self.folder, self.file)
        return only_changed(start, end, StoredFile, file.id, trashed=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Hold(self.file)
        yield Press("Delete")
        yield Press("Delete")


@dataclass(frozen=True)
class RenameFile(Template):
    name = "files.rename"
    apps = ("Files",)
    difficulty = "medium"
    phrasings = (
        "Rename the file {file} in {folder} to {new}",
        "In the folder {folder}, give {file} the new name {new}",
        "Change the name of {file} in my {folder} folder to {new}",
    )
    touches = (StoredFile,)
    file: str = parameter(FILES)
    folder: str = parameter(TOPS)
    stem: str = parameter(NEW_NAMES)

    @property
    def _new(self) -> str:
        return f"{self.stem}.{self.file.rpartition('.')[2]}"

    def words(self) -> dict[str, str]:
        return {**super().words(), "new": self._new}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_file(facts, rng, self.file, self.folder)
        add_twin(facts, rng, self.file, self.folder)

    def missing(self, start: View, end: View) -> str | None:
        file = file_in(start, self.folder, self.file)
        return only_changed(start, end, StoredFile, file.id, name=self._new)

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Hold(self.file)
        yield Press("Rename")
        yield Fill("File name", self._new)
        yield Press("Rename")


@dataclass(frozen=True)
class MoveFile(Template):
    name = "files.move"
    apps = ("Files",)
    difficulty = "medium"
    phrasings = (
        "Move the file {file} from {folder} to {other}",
        "{file} is in {folder}, but it belongs in {other}. Move it",
        "Please put {file} from my {folder} folder into the folder {other}",
    )
    touches = (StoredFile,)
    file: str = parameter(FILES)
    folder: str = parameter(TOPS)
    other: str = parameter(FOLDERS)

    def sensible(self) -> bool:
        return self.folder != self.other

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_file(facts, rng, self.file, self.folder)
        add_twin(facts, rng, self.file, self.folder, self.other)

    def missing(self, start: View, end: View) -> str | None:
        other = folder_called(start.facts, self.other).id
        file = file_in(start, self.folder, self.file)
        return only_changed(start, end, StoredFile, file.id, folder_id=other)

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Hold(self.file)
        yield Press("Move")
        yield Press(self.other)


@dataclass(frozen=True)
class CopyFile(MoveFile):
    name = "files.copy"
    phrasings = (
        "Copy the file {file} from {folder} to {other}",
        "Put a copy of {file} from {folder} into the folder {other}",
        "I need the {file} from {folder} in {other} as well. Copy it there",
    )

    def missing(self, start: View, end: View) -> str | None:
        other = folder_called(start.facts, self.other).id
        size = file_in(start, self.folder, self.file).kilobytes
        return only_added(
            start, end, StoredFile, name=self.file, folder_id=other, kilobytes=size, trashed=False
        )

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Hold(self.file)
        yield Press("Copy")
        yield Press(self.other)


@dataclass(frozen=True)
class CreateFolder(Template):
    name = "files.create_folder"
    apps = ("Files",)
    difficulty = "medium"
    phrasings = (
        "Create a folder called {new} inside {folder}",
        "In Files, make a new folder {new} in the folder {folder}",
        "I want a subfolder named {new} in my {folder} folder",
    )
    touches = (Folder,)
    folder: str = parameter(TOPS)
    new: str = parameter(NEW_FOLDERS)

    def missing(self, start: View, end: View) -> str | None:
        parent = folder_called(start.facts, self.folder).id
        return only_added(start, end, Folder, name=self.new, parent_id=parent)

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Press("New folder")
        yield Fill("Folder name", self.new)
        yield Press("Create")


@dataclass(frozen=True)
class MoveToNewFolder(Template):
    name = "files.sort_away"
    apps = ("Files",)
    difficulty = "hard"
    phrasings = (
        "Create a folder called {new} in {folder} and move {file} from {folder} into it",
        "Put {file}, which is in {folder}, into a new subfolder of {folder} named {new}",
        "Make a folder {new} inside {folder}; then move {file} from {folder} there",
    )
    touches = (Folder, StoredFile)
    file: str = parameter(FILES)
    folder: str = parameter(TOPS)
    new: str = parameter(NEW_FOLDERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_file(facts, rng, self.file, self.folder)

    def missing(self, start: View, end: View) -> str | None:
        parent = folder_called(start.facts, self.folder).id
        wrong = only_added(start, end, Folder, name=self.new, parent_id=parent)
        if wrong:
            return wrong
        made, file = added(start, end, Folder)[0], file_in(start, self.folder, self.file)
        return only_changed(start, end, StoredFile, file.id, folder_id=made.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Press("New folder")
        yield Fill("Folder name", self.new)
        yield Press("Create")
        yield Hold(self.file)
        yield Press("Move")
        yield Press(self.new)


@dataclass(frozen=True)
class RestoreFile(Template):
    name = "files.restore"
    apps = ("Files",)
    difficulty = "medium"
    phrasings = (
        "Restore the file {file} from the trash",
        "I deleted {file} by mistake. Get it back from the trash in Files",
        "Take {file} out of the trash again",
    )
    touches = (StoredFile,)
    file: str = parameter(FILES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_file(facts, rng, self.file, rng.choice(TOP_FOLDERS), trashed=True)

    def missing(self, start: View, end: View) -> str | None:
        file = trashed_file(start, self.file)
        return only_changed(start, end, StoredFile, file.id, trashed=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Files")
        yield Press("Trash")
        yield Press(self.file)
        yield Press("Restore")


@dataclass(frozen=True)
class DeleteForGood(RestoreFile):
    name = "files.delete_for_good"
    phrasings = (
        "Delete the file {file} in the trash for good",
        "{file} is in the trash. Remove it from there for ever, but leave the rest of the trash",
        "Wipe {file}, and only that, from the trash in Files",
    )

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, StoredFile, trashed_file(start, self.file).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Files")
        yield Press("Trash")
        yield Press(self.file)
        yield Press("Delete for good")


TEMPLATES: tuple[type[Template], ...] = (
    DeleteFile, RenameFile, MoveFile, CopyFile, CreateFolder, MoveToNewFolder, RestoreFile,
    DeleteForGood,
)  # fmt: skip
