"""The tasks there are, and the promise that what is tested was not trained on."""

import dataclasses
from itertools import combinations, islice
from pathlib import Path

import pytest

from distrl.errors import UnknownTask
from distrl.records import CORE_FAMILIES, FAMILIES, SPLITS, TEST_OF, Split
from phonesim.tasks.everyday.two_hops import TwoHops
from phonesim.tasks.task_sets import (
    HELD_OUT_APPS,
    load_task,
    splits_of,
    tasks,
    template_names,
    templates,
)
from phonesim.tasks.wordings import REWORDED

NUMBERS = 60
ROOT = Path(__file__).parents[3]


def instructions(split: str) -> set[str]:
    return {
        load_task(f"{name}/{split}/{number}")[0].instruction
        for name in template_names(split)  # type: ignore[arg-type]
        if name != "phone.call_back"  # its instruction names nobody: the phone says who called
        for number in range(NUMBERS)
    }


def test_there_are_enough_templates_of_both_families_and_all_difficulties() -> None:
    by_family = {f: [t for t in templates().values() if t.family == f] for f in CORE_FAMILIES}
    assert len(by_family["general"]) >= 80
    assert len(by_family["shopping"]) >= 25
    for family, found in by_family.items():
        shares = {d: sum(t.difficulty == d for t in found) for d in ("easy", "medium", "hard")}
        assert min(shares.values()) >= len(found) * 0.1, (family, shares)


def test_a_third_of_all_templates_cross_apps() -> None:
    crossing = [each for each in templates().values() if len(each.apps) > 1]
    assert len(templates()) >= 450
    assert len(crossing) * 3 >= len(templates())
    assert sum(len(each.apps) >= 4 for each in crossing) >= 9
    assert sum(issubclass(each, TwoHops) for each in crossing) >= 10


def test_what_the_docs_count_is_what_there_is() -> None:
    ours = [t for t in templates().values() if t.__module__.startswith("phonesim.")]
    everyday = [each for each in ours if each.family == "everyday"]
    crossing = [each for each in ours if len(each.apps) > 1]
    splits = [splits_of(each) for each in everyday]
    for page, said in (
        ("README.md", f"{len(ours)} task templates with exact judges, {len(crossing)} of them"),
        ("README.md", f"#everyday-apps-and-tasks-across-apps)): {len(everyday)} templates"),
        ("README.md", f"steps, {sum(len(e.apps) > 1 for e in everyday)} of them across two to"),
        ("docs/mobilegym.md", f"| {len(ours)} templates, each with any number of tasks;"),
        ("docs/mobilegym.md", f"; {len(crossing)} name two to four apps;"),
        ("docs/phonesim.md", f"It comes with {len(ours)} task"),
        ("docs/phonesim.md", f"`high_stakes` ({splits.count(('high_stakes',))} templates"),
        ("docs/phonesim.md", f"({splits.count(('long',))} templates that"),
    ):
        assert said in (ROOT / page).read_text("utf-8"), (page, said)


def test_without_a_family_sets_are_those_of_the_core_families() -> None:
    """Runs and evaluations that name no family do not grow with the everyday apps."""
    for split in ("train", "test", "held_out_templates", "held_out_apps"):
        families = {templates()[name].family for name in template_names(split)}
        assert families <= set(CORE_FAMILIES)
    ours = [n for n in template_names("train") if templates()[n].__module__.startswith("phonesim.")]
    assert len(ours) == 217  # whatever other tests have registered
    assert {templates()[name].family for name in template_names("long")} == {"everyday"}


def test_high_stakes_and_long_tasks_are_in_no_other_split() -> None:
    for split in ("high_stakes", "long"):
        assert len(template_names(split)) >= 25
        for name in template_names(split):
            assert splits_of(templates()[name]) == (split,)


def test_no_everyday_instruction_is_in_two_splits() -> None:
    found = {
        split: {
            load_task(f"{name}/{split}/{number}")[0].instruction
            for name in template_names(split, "everyday")[::3]
            for number in range(12)
        }
        for split in ("train", "test")
    }
    assert not found["train"] & found["test"]


def test_every_template_is_phrased_several_ways_and_uses_all_its_parameters() -> None:
    for name, template in templates().items():
        assert len(set(template.phrasings)) >= 3, name
        assert template.apps, name


def test_no_instruction_of_one_split_occurs_in_another() -> None:
    """`held_out_templates` are both undemonstrated splits in one, for testing alone."""
    found = {split: instructions(split) for split in SPLITS if split != "held_out_templates"}
    demonstrated = found["train"] | found["test"]
    assert not instructions("held_out_templates") & demonstrated
    for one, other in combinations(found, 2):
        assert not found[one] & found[other], (one, other)


def test_no_parameter_value_of_the_test_split_occurs_in_training() -> None:
    named: list[tuple[str, Split]] = [(name, "train") for name in template_names("train")]
    named += [(name, "undemonstrated") for name in template_names("undemonstrated")]
    for name, split in named:
        trained = [load_task(f"{name}/{split}/{n}")[1] for n in range(NUMBERS)]
        tested = [load_task(f"{name}/{TEST_OF[split]}/{n}")[1] for n in range(NUMBERS)]
        for field in dataclasses.fields(trained[0]):  # type: ignore[arg-type]
            seen = {getattr(task, field.name) for task in trained}
            assert not seen & {getattr(task, field.name) for task in tested}, (name, field.name)


def test_held_out_templates_and_apps_are_in_no_other_split() -> None:
    trained = set(template_names("train"))
    assert trained == set(template_names("test"))
    assert not trained & set(template_names("held_out_templates"))
    assert len(template_names("held_out_templates")) >= 10
    for name in trained:
        assert not HELD_OUT_APPS & set(templates()[name].apps), name
    held = [
        n
        for n in template_names("held_out_apps")
        if splits_of(templates()[n]) == ("held_out_apps",)
    ]
    assert held
    for family in FAMILIES:
        assert template_names("held_out_apps", family)


def test_no_phone_of_one_split_is_a_phone_of_another() -> None:
    """Tasks in other words are played on the phones of `test`: they are the same tasks."""
    own = [split for split in SPLITS if split not in REWORDED]
    seeds = {split: {task.seed for task in islice(tasks(split), 300)} for split in own}
    for one, other in combinations(own, 2):
        assert not seeds[one] & seeds[other]


def test_an_id_alone_rebuilds_the_task() -> None:
    for task in islice(tasks("train"), 40):
        assert load_task(task.id)[0] == task


@pytest.mark.parametrize(
    ("task_id", "hint"),
    [
        ("notes.creat/train/0", "did you mean notes.create"),
        ("nothing.like.this/train/0", "distrl tasks"),
        ("notes.create/train", "template/split/number"),
        ("notes.create/train/-1", "template/split/number"),
        ("notes.create/train/007", "template/split/number"),
        ("notes.create/train/²", "template/split/number"),
        ("notes.create/held_out_apps/0", "it has: train, test"),
        ("notes.create/training/0", "it has: train, test"),
        ("", "no task template"),
    ],
)
def test_an_unknown_task_is_refused_with_a_hint(task_id: str, hint: str) -> None:
    with pytest.raises(UnknownTask, match=hint):
        load_task(task_id)
