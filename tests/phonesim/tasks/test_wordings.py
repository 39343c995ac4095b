"""Sentences that no demonstration has, for tasks that are the same in all else."""

from __future__ import annotations

import re
from string import Formatter

import pytest
from tests.slow_params import one_in

from distrl.episodes.demonstrations import demonstrate
from distrl.episodes.evaluation import SIMPLE_AGENTS, evaluate
from distrl.records import Ending, Split
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks import grounding
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task, template_names, templates
from phonesim.tasks.wordings import REWORDED, wordings

NAMES = sorted(wordings()["paraphrased"])


def fields_of(sentence: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(sentence) if field}


def words_of(sentence: str) -> set[str]:
    return set(re.findall(r"[a-z']+", re.sub(r"\{\w*\}", " ", sentence).lower()))


def school_sentences() -> set[str]:
    """All that demonstrations say: of templates, and of walks over a screen."""
    walks = [part for part in vars(grounding).values() if isinstance(part, tuple)]
    found = {each for part in walks for each in part if isinstance(each, str)}
    return found | {
        each for name in template_names("train") for each in templates()[name].phrasings
    }


def test_both_splits_have_the_same_templates_of_both_families() -> None:
    assert sorted(wordings()["other_words"]) == NAMES
    assert len(NAMES) >= 60
    assert set(NAMES) <= set(template_names("train"))  # demonstrated ones, in other words
    for split in REWORDED:
        assert sorted(template_names(split)) == NAMES
        assert len(template_names(split, "shopping")) >= 20


@pytest.mark.parametrize("split", REWORDED)
def test_a_sentence_has_the_fields_of_the_template_and_is_none_of_its_own(split: Split) -> None:
    school = school_sentences()
    for name, sentence in wordings()[split].items():
        phrasings = templates()[name].phrasings
        assert fields_of(sentence) in [fields_of(each) for each in phrasings], name
        assert sentence not in school, name


def test_paraphrases_have_known_words_alone_and_other_words_one_that_is_not() -> None:
    known = {word for sentence in school_sentences() for word in words_of(sentence)}
    for name in NAMES:
        assert not words_of(wordings()["paraphrased"][name]) - known, name
        assert words_of(wordings()["other_words"][name]) - known, name


@pytest.mark.parametrize("split", REWORDED)
def test_only_the_instruction_differs_from_the_task_of_the_split_test(split: Split) -> None:
    for name in NAMES:
        told, parts = load_task(f"{name}/{split}/3")
        tested, same = load_task(f"{name}/test/3")
        assert parts == same
        assert (told.seed, told.step_limit, told.apps) == (
            tested.seed,
            tested.step_limit,
            tested.apps,
        )
        assert (told.split, told.id) == (split, f"{name}/{split}/3")
        assert told.instruction != tested.instruction
        assert "{" not in told.instruction


@pytest.mark.parametrize("name", one_in(12, NAMES))
def test_phone_and_verdicts_are_those_of_the_task_of_the_split_test(name: str) -> None:
    device, starts = SimulatedDevice("reworded"), []
    for split in ("test", *REWORDED):
        task, _ = load_task(f"{name}/{split}/0")
        assert demonstrate(task, device).ending is Ending.SUCCESS
        [idle] = evaluate([task], SIMPLE_AGENTS["done"], [device])
        assert idle.ending is Ending.FAILURE
        judge = FactJudge(device)
        device.reset(task.seed)
        judge.begin(task)
        starts.append([judge.start.facts.all(kind) for kind in judge.start.facts.kinds()])
    assert starts[0] == starts[1] == starts[2]
