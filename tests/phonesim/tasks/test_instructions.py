"""Tasks said in other languages: the same parameters, the phone's own words, English as before."""

from __future__ import annotations

import dataclasses
import hashlib
import random
import string

import pytest

from distrl.episodes.demonstrations import demonstrate
from distrl.records import Ending
from phonesim.drift import Drift
from phonesim.languages.language import FOLDERS, language
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.domains import domain_of
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.instructions import SAID, instruction_in, phrasings_in, sentences
from phonesim.tasks.task_sets import load_task, splits_of, templates
from phonesim.tasks.template import Template

OTHERS = [name for name in FOLDERS if name != "English"]
EVERYDAY = {name: each for name, each in templates().items() if each.family == "everyday"}
A_DAY = {"when": ("day", "planned_day"), "trip_when": ("trip_day",), "on_day": ("day",)}
ENGLISH = "27dc585d72dad27c69faf49360be5f9e"  # digest of all; new templates change it


def parameters(template: type[Template], phrasing: str) -> set[str]:
    """The fields that a phrasing tells of; `when` tells of the day that it was made from."""
    fields = {field.name for field in dataclasses.fields(template)}  # type: ignore[arg-type]
    holes = {name for _, name, _, _ in string.Formatter().parse(phrasing) if name}
    told = {field for hole in holes for field in (A_DAY.get(hole) or (hole,)) if field in fields}
    assert all(hole in fields or hole in A_DAY for hole in holes), phrasing
    return told


def test_english_instructions_are_what_they_were() -> None:
    digest = hashlib.blake2b(digest_size=16)
    for name, template in templates().items():
        if template.__module__.startswith("phonesim."):
            task, _ = load_task(f"{name}/{splits_of(template)[0]}/3")
            digest.update(f"{task.id}\t{task.instruction}\n".encode())
    assert digest.hexdigest() == ENGLISH


@pytest.mark.parametrize("name", OTHERS)
def test_every_everyday_template_tells_the_same_parameters(name: str) -> None:
    for template in EVERYDAY.values():
        told = parameters(template, template.phrasings[0])
        phrasings = phrasings_in(template, name)
        assert len(phrasings) >= 2, template.name
        for phrasing in phrasings:
            assert parameters(template, phrasing) == told, phrasing


@pytest.mark.parametrize("name", OTHERS)
def test_no_sentence_is_for_nothing(name: str) -> None:
    table = sentences(name)
    assert table is not None
    parts = {
        part.__name__
        for template in EVERYDAY.values()
        for part in (*getattr(template, "acts", ()), *_read_by(template))
    }
    assert {*table.nouns, *table.orders, *table.clauses} == parts
    assert set(table.phrasings) <= set(EVERYDAY)


def _read_by(template: type[Template]) -> tuple[type, ...]:
    read = (getattr(template, name, None) for name in ("source", "lookup", "condition"))
    return tuple(part for part in read if part)


@pytest.mark.parametrize("name", OTHERS)
def test_days_lengths_and_audiences_are_never_said_in_english(name: str) -> None:
    table = sentences(name)
    assert table is not None
    for template in EVERYDAY.values():
        for field in dataclasses.fields(template):  # type: ignore[arg-type]
            domain = domain_of(field)
            for value in domain.train + domain.test if domain.name in SAID else ():
                said = getattr(value, "when", None) or domain.say(value)
                assert said in table.said or f"on {said}" in table.said, said


def test_values_are_said_as_the_language_writes_them() -> None:
    _, task = load_task("wallet.send_with_code/high_stakes/1")
    amount = f"{task.words()['amount'][1:].replace('.', ',')} $"
    said = instruction_in(task, language("German"), random.Random(1))
    assert said is not None
    assert amount in said
    assert task.words()["person"] in said
    _, task = load_task("feed.switch_off/train/0")
    setting = language("Chinese").tr(task.words()["setting"])
    said = instruction_in(task, language("Chinese"), random.Random(1))
    assert said is not None
    assert f"“{setting}”" in said


def test_the_phone_decides_and_judge_and_solution_stay_the_same() -> None:
    task, _ = load_task("chat.write/train/0")
    spanish = SimulatedDevice("spanish", Drift(languages=("Spanish",)))
    played = demonstrate(task, spanish)
    assert played.ending is Ending.SUCCESS
    english = SimulatedDevice("english", Drift(languages=("English",)))
    english.reset(task.seed)
    assert FactJudge(english).begin(task) is task
    spanish.reset(task.seed)
    worded = FactJudge(spanish).begin(task)
    assert "Chat" in worded.instruction
    assert worded.instruction != task.instruction
    assert dataclasses.replace(worded, instruction=task.instruction) == task


def test_a_template_without_sentences_stays_english() -> None:
    task, template = load_task("notes.create/train/0")
    assert instruction_in(template, language("German"), random.Random(1)) is None
    german = SimulatedDevice("german", Drift(languages=("German",)))
    german.reset(task.seed)
    assert FactJudge(german).begin(task) is task
