"""The edges of the circle: which part is built of which settings."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import Versions

from distrl.config.training_config import TrainingConfig
from distrl.devices.device import Device
from distrl.engine.device_wiring import build_device_pool
from distrl.engine.ingest.delivery import ArrivalQueue
from distrl.engine.wiring import (
    ALGORITHMS,
    LockedCritic,
    build_batcher,
    build_batcher_settings,
    build_learner,
    build_pacing,
    build_policy,
    build_pool,
    build_prefetcher,
    build_tasks,
    build_weight_store,
    has_adapters,
    task_words,
)
from distrl.episodes.device_pool import DevicePool
from distrl.plugin_shape import BUILT_IN
from distrl.task_sets.curriculum import (
    InstructionValueTasks,
    RepeatedTasks,
    SuccessRateTasks,
    TaskSource,
    UniformTasks,
)


def test_every_algorithm_of_the_settings_can_be_built() -> None:
    assert set(ALGORITHMS) == set(BUILT_IN["algorithm"])


def test_the_learner_has_the_parts_of_its_settings(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model, "learning.algorithm=ppo", "replay.capacity=17")
    arrivals, weights = ArrivalQueue(), build_weight_store(config, tmp_path / "weights")
    policy = build_policy(config)
    learner = build_learner(config, policy, arrivals, weights)
    assert type(learner.algorithm).__name__ == "Ppo"
    assert learner.replay.settings.capacity == 17
    assert learner.policy is policy
    assert learner.settings == config.learning.learner
    assert learner.prefetcher is not None


def test_a_policy_draws_by_its_collectors_name_and_the_seed(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    policy, batcher = build_batcher(config, "collector-0.1", Versions())
    assert batcher.settings == build_batcher_settings(config)
    again, _ = build_batcher(config, "collector-0.1", Versions())
    other, _ = build_batcher(config, "collector-1.1", Versions())
    draws = [each._rng.initial_seed() for each in (policy, again, other)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("mode", ["synchronous", "one_process"])
def test_who_takes_turns_goes_as_far_as_the_other_has_paid_for(tmp_path: Path, mode: str) -> None:
    words = ("pacing.samples_per_insert=4", "learning.learner.batch_trajectories=10")
    free = tiny_config(tmp_path, tmp_path, *words)
    turns = tiny_config(tmp_path, tmp_path, *words, f"collection.mode={mode}")
    assert build_pacing(free).tolerance == 2 * 10
    assert build_pacing(turns).tolerance == (10 + 4) / 2
    assert build_batcher_settings(free).swap == "between_decisions"
    assert build_batcher_settings(turns).swap == "between_episodes"
    nothing: Any = None  # no policy is asked here
    assert build_prefetcher(turns, nothing) is None  # so that a run can be repeated


def test_a_store_of_adapters_says_which_model_they_are_for(tmp_path: Path, model: Path) -> None:
    whole = tiny_config(tmp_path, model)
    adapters = tiny_config(tmp_path, model, "agent.policy.lora.rank=2")
    assert not has_adapters(whole)
    assert has_adapters(adapters)
    assert build_weight_store(adapters, tmp_path).base == str(model)


def devices(config: TrainingConfig, folder: Path) -> DevicePool[Device]:
    with ExitStack() as opened:
        return build_device_pool(config, 0, opened, folder)


class Sure:
    """A critic that expects success of every instruction."""

    def instruction_values(self, instructions: list[str]) -> list[float]:
        return [1.0] * len(instructions)


@pytest.mark.parametrize(
    ("curriculum", "kind"),
    [
        ("uniform", UniformTasks),
        ("success_rate", SuccessRateTasks),
        ("instruction_value", InstructionValueTasks),
    ],
)
def test_the_curriculum_is_that_of_the_settings(
    tmp_path: Path, curriculum: str, kind: type[TaskSource]
) -> None:
    config = tiny_config(tmp_path, tmp_path, f"tasks.curriculum={curriculum}")
    critic = LockedCritic(Sure(), nullcontext())  # type: ignore[arg-type]
    assert isinstance(build_tasks(config, 0, critic, devices(config, tmp_path)), kind)


def test_attempts_together_repeat_each_task(tmp_path: Path) -> None:
    words = ("learning.algorithm=grpo", "learning.learner.attempts_together=2")
    config = tiny_config(tmp_path, tmp_path, *words)
    assert isinstance(build_tasks(config, 0, None, devices(config, tmp_path)), RepeatedTasks)


def test_collectors_play_different_tasks(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path, "collection.collectors=2", "devices.count=2")
    pool = devices(config, tmp_path)
    first, second = (build_pool(config, number, pool) for number in range(2))
    template = config.tasks.template_names[0]
    mine = {first.task(template, turn).id for turn in range(20)}
    theirs = {second.task(template, turn).id for turn in range(20)}
    assert len(mine) == len(theirs) == 20
    assert not mine & theirs


def test_simulated_tasks_need_no_words(tmp_path: Path) -> None:
    assert task_words(tiny_config(tmp_path, tmp_path)) == ""
