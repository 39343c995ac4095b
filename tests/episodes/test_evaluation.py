"""Which tasks an agent is evaluated on: balanced, from a seed, and growing without changing."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from distrl.episodes.evaluation import evaluation_tasks
from distrl.errors import UnknownTask
from distrl.records import Family, Task
from phonesim.tasks.task_sets import template_names


def some(number: int, seed: int = 0, **choices: object) -> list[Task]:
    return list(islice(evaluation_tasks("test", seed=seed, **choices), number))  # type: ignore[arg-type]


def test_families_take_turns_and_no_template_comes_twice_before_all_have_come_once() -> None:
    tasks = some(200)
    assert Counter(task.family for task in tasks) == {"general": 100, "shopping": 100}
    shopping = Counter(task.template for task in tasks if task.family == "shopping")
    general = Counter(task.template for task in tasks if task.family == "general")
    assert set(shopping) == set(template_names("test", "shopping"))
    assert set(shopping.values()) == {2, 3}
    assert set(general.values()) == {1}


def test_no_task_comes_twice_and_all_are_of_the_split() -> None:
    tasks = some(1000)
    assert len({task.id for task in tasks}) == 1000
    assert {task.split for task in tasks} == {"test"}


def test_the_seed_gives_the_tasks_and_a_longer_evaluation_begins_with_the_shorter() -> None:
    assert some(60) == some(120)[:60]
    assert not {task.id for task in some(200)} & {task.id for task in some(200, seed=1)}


def test_a_few_episodes_are_not_all_of_the_first_app() -> None:
    assert len({task.apps for task in some(30, families=("general",))}) > 5


@pytest.mark.parametrize("family", ["general", "shopping"])
def test_one_family_alone(family: Family) -> None:
    assert {task.family for task in some(50, families=(family,))} == {family}


def test_a_family_that_is_named_twice_takes_one_turn() -> None:
    assert some(8, families=("both", "shopping")) == some(8)
    assert some(8, families=("everyday", "both"))[1:3] == some(2)


def test_named_templates_alone_with_different_numbers() -> None:
    tasks = some(6, only=("notes.create", "shopping.buy", "notes.create"))
    assert Counter(task.template for task in tasks) == {"notes.create": 3, "shopping.buy": 3}
    assert len({task.id for task in tasks}) == 6


@pytest.mark.parametrize("name", ["notes.creat", "files.rename"])
def test_a_template_that_is_not_there_is_said_so(name: str) -> None:
    with pytest.raises(UnknownTask):
        some(1, only=(name,))
