"""The records of the phone's storage: folders, files, and the initial ones on a new phone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

from phonesim.facts import Facts

CAPACITY = 64_000_000  # kilobytes of storage
SYSTEM = 21_400_000  # kilobytes of it that the system and the apps use


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder; `parent_id` 0 is the root of the storage."""

    id: int = 0
    name: str = ""
    parent_id: int = 0


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file. Deleted files stay, `trashed`, until they are deleted permanently."""

    id: int = 0
    name: str = ""
    folder_id: int = 0
    kilobytes: int = 0
    changed: date = date(2026, 1, 1)
    trashed: bool = False


@dataclass(frozen=True, slots=True)
class FileOrder:
    """How the lists are sorted: a view, not a change to files."""

    INCIDENTAL: ClassVar[bool] = True
    id: int = 0
    by: str = "Name"


ICONS = {
    "jpg": "image", "png": "image", "mp3": "music", "mp4": "video", "zip": "archive",
    "txt": "note", "csv": "chart", "apk": "app",
}  # fmt: skip
TOP_FOLDERS = ("Downloads", "Documents", "Pictures", "Music", "Videos")
SUB_FOLDERS = {"Documents": ("Invoices", "Letters"), "Pictures": ("Screenshots",)}
FIRST_FILES: dict[str, tuple[str, ...]] = {
    "Downloads": (
        "boarding_pass.pdf", "menu.pdf", "setup.apk", "map_city.png", "manual.pdf", "fonts.zip",
        "wallpapers.zip", "timetable.pdf", "sticker.png", "podcast_12.mp3",
    ),
    "Documents": ("cover_letter.txt", "budget.csv", "contract.pdf", "ideas.txt", "minutes.txt"),
    "Invoices": ("invoice_0117.pdf", "invoice_0203.pdf", "receipt_shoes.pdf"),
    "Letters": ("landlord.txt", "insurance.txt"),
    "Pictures": ("IMG_0412.jpg", "IMG_0413.jpg", "IMG_0420.jpg", "panorama.jpg", "scan.png"),
    "Screenshots": ("screen_01.png", "screen_02.png", "screen_03.png"),
    "Music": ("harbour_lights.mp3", "slow_train.mp3", "paper_moon.mp3"),
    "Videos": ("first_steps.mp4", "concert.mp4"),
}  # fmt: skip
SIZES = {"mp4": 180_000, "mp3": 6_200, "zip": 24_000, "apk": 48_000, "jpg": 3_400, "png": 900}


def furnish_files(facts: Facts, rng: random.Random, today: date) -> None:
    """Fill the storage like a phone that has been in use for a year."""
    facts.add(FileOrder())
    for name in TOP_FOLDERS:
        top = facts.add(Folder(name=name))
        _fill(facts, rng, top, today)
        for inner in SUB_FOLDERS.get(name, ()):
            _fill(facts, rng, facts.add(Folder(name=inner, parent_id=top.id)), today)
    for name in rng.sample(("old_draft.txt", "blurry.jpg", "duplicate.pdf", "trial.zip"), 2):
        folder = facts.all(Folder)[0]
        facts.add(StoredFile(0, name, folder.id, some_size(name, rng), today, trashed=True))


def _fill(facts: Facts, rng: random.Random, folder: Folder, today: date) -> None:
    names = FIRST_FILES[folder.name]
    for name in rng.sample(names, rng.randrange(2 * len(names) // 3, len(names)) or 1):
        day = today - timedelta(days=rng.randrange(1, 300))
        facts.add(StoredFile(0, name, folder.id, some_size(name, rng), day))


def some_size(name: str, rng: random.Random) -> int:
    """Return a plausible size in kilobytes for a file of that name."""
    usual = SIZES.get(ending(name), 240)
    return max(1, round(usual * rng.uniform(0.3, 1.8)))


def ending(name: str) -> str:
    return name.rpartition(".")[2]


def size_words(kilobytes: int) -> str:
    """Format kilobytes for people: 820 KB, 3.4 MB, 21.4 GB."""
    for unit, factor in (("GB", 1_000_000), ("MB", 1_000)):
        if kilobytes >= factor:
            return f"{kilobytes / factor:.1f} {unit}"
    return f"{kilobytes} KB"


def path_words(facts: Facts, folder: Folder) -> str:
    """Return the path of a folder: Documents / Invoices."""
    if not folder.parent_id:
        return folder.name
    return f"{path_words(facts, facts.get(Folder, folder.parent_id))} / {folder.name}"
