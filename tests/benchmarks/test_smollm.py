"""The small form of SmolLM2's benchmark: what is taught was demonstrated, what is tried was not."""

from __future__ import annotations

from benchmarks.smollm import REWARD, REWARD_TWO_CORES, TAUGHT, TEACH_TWO_CORES, UNSHOWN
from benchmarks.train_runs import set_words

from distrl.config.training_config import load_config
from distrl.imitation.cloning import CloningSettings
from phonesim.tasks.task_sets import template_names


def test_what_is_taught_was_demonstrated_and_what_is_rewarded_was_not() -> None:
    assert set(TAUGHT) <= set(template_names("train", "general"))
    assert set(UNSHOWN) <= set(template_names("undemonstrated", "general"))
    assert CloningSettings(**TEACH_TWO_CORES).templates == TAUGHT


def test_the_small_reward_run_has_settings_that_are_read() -> None:
    config = load_config(None, set_words(REWARD | REWARD_TWO_CORES)[1::2])
    assert config.tasks.template_names == UNSHOWN
    assert config.agent.policy.device == "cpu"
    assert config.evaluation.split == "undemonstrated_test"
