"""Questions that the app Files answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.file_records import (
    StoredFile,
    size_words,
)
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.files import (
    FILES,
    TOPS,
    add_file,
    add_twin,
    file_in,
    folder_called,
    walk,
)
from phonesim.tasks.moves import Move, Press, Reveal, Say
from phonesim.tasks.template import Template, View

UNITS = {"KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte"}


@dataclass(frozen=True)
class HowLarge(Template):
    name = "files.ask_size"
    apps = ("Files",)
    difficulty = "easy"
    phrasings = (
        "How large is the file {file} in {folder}?",
        "What is the size of {file} in my {folder} folder?",
        "Tell me how much room {file} in {folder} takes up",
    )
    file: str = parameter(FILES)
    folder: str = parameter(TOPS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_file(facts, rng, self.file, self.folder)
        add_twin(facts, rng, self.file, self.folder)

    def missing(self, start: View, end: View) -> str | None:
        words = size_words(file_in(start, self.folder, self.file).kilobytes)
        number, unit = words.split()
        said = (end.answer or "").casefold()
        right = states_number(said, float(number), [self.file]) and any(
            name in said for name in (unit.casefold(), UNITS[unit])
        )
        return None if right else f"the answer should be {words}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Reveal(self.file)
        yield Say(size_words(file_in(start, self.folder, self.file).kilobytes))


@dataclass(frozen=True)
class LargestFile(Template):
    name = "files.ask_largest"
    apps = ("Files",)
    difficulty = "medium"
    phrasings = (
        "Which file in {folder} is the largest?",
        "What is the name of the biggest file in my {folder} folder?",
        "Find out which of the files in {folder} takes up the most room",
    )
    file: str = parameter(FILES)
    folder: str = parameter(TOPS)

    def words(self) -> dict[str, str]:
        return {"folder": self.folder}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_file(facts, rng, self.file, self.folder)
        largest = max(file.kilobytes for file in facts.all(StoredFile))
        place = folder_called(facts, self.folder).id
        file = next(f for f in facts.all(StoredFile) if (f.folder_id, f.name) == (place, self.file))
        facts.edit(file, kilobytes=largest + rng.randrange(2_000, 90_000))

    def missing(self, start: View, end: View) -> str | None:
        others = {file.name for file in start.all(StoredFile)}
        right = mentions(end.answer, self.file, others)
        return None if right else f"the answer should be {self.file}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from walk(start.facts, self.folder)
        yield Press("Sort")
        yield Press("Size")
        yield Reveal(self.file)
        yield Say(self.file)


TEMPLATES: tuple[type[Template], ...] = (HowLarge, LargestFile)
