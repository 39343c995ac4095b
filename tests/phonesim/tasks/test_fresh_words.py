"""Made-up texts: of the same form, and taken by every template whose domains say so."""

from __future__ import annotations

import dataclasses
import random
import re

import pytest

from distrl import records as r
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.demonstrations import Demonstrator
from phonesim.tasks.domains import domain_of
from phonesim.tasks.fresh_words import ANY_TEXT, made_up, with_fresh_words
from phonesim.tasks.task_sets import load_task, template_names, templates


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Packing list", r"[A-Z][a-z]+ [a-z]+"),
        ("555 0147", r"\d{3} \d{4}"),
        ("Blue, not green", r"[A-Z][a-z]+, [a-z]+ [a-z]+"),
        ("SAVE 20", r"[A-Z]+ \d\d"),
    ],
)
def test_a_made_up_text_has_the_form_of_the_real_one(text: str, form: str) -> None:
    found = {made_up(text, random.Random(seed)) for seed in range(50)}
    assert len(found) > 40
    assert all(re.fullmatch(form, each) for each in found)


def test_words_can_be_read_and_typed() -> None:
    words = [made_up("word", random.Random(seed)) for seed in range(500)]
    assert all(2 <= len(word) <= 13 and word.isascii() and word.islower() for word in words)


def test_a_task_without_such_parameters_stays_as_it_is() -> None:
    _, template = load_task("weather.unit/held_out_apps/1")
    assert with_fresh_words(template, random.Random(1)) == template


@pytest.mark.slow
@pytest.mark.parametrize("name", template_names("train"))
def test_every_template_takes_made_up_texts(name: str) -> None:
    """A domain that must not be made up would be found here: its tasks could not be solved."""
    demonstrator = Demonstrator(SimulatedDevice("any"), 1, slip_rate=0.0, fresh_words=1.0)
    task, _ = load_task(f"{name}/train/5")
    samples = demonstrator.demonstrate(task)
    assert samples
    assert isinstance(samples[-1].action, r.FINAL_ACTIONS)


def test_the_domains_are_there() -> None:
    fields = (each for t in templates().values() for each in dataclasses.fields(t))  # type: ignore[arg-type]
    assert {domain_of(field).name for field in fields} >= ANY_TEXT
