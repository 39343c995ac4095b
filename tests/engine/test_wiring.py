"""The edges of the circle: which part is built of which settings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.agent.tiny_models import tiny_model
from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import ListSink, Versions

from distrl.agent.policy_weights import export_policy
from distrl.config.training_config import TrainingConfig
from distrl.engine import wiring
from distrl.engine.ingest.delivery import ArrivalQueue
from distrl.engine.serving.policy_client import PolicyClient
from distrl.engine.supervision.collector_registry import PacedAdmission
from distrl.engine.wiring import (
    ALGORITHMS,
    build_batcher,
    build_batcher_settings,
    build_learner,
    build_pacing,
    build_policy,
    build_prefetcher,
    build_watch,
    build_weight_poller,
    build_weight_store,
    has_adapters,
)
from distrl.errors import InvalidSetting
from distrl.learning.policy_watch import CPU_TOLERANCE, NARROW_TOLERANCE
from distrl.plugin_shape import BUILT_IN


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
    learner.prefetcher.preparations = 3
    assert learner.gradient_step.memory.other_work() == 3


@pytest.mark.parametrize("cramped", [False, True])
def test_a_policy_checkpoints_where_the_estimate_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cramped: bool
) -> None:
    monkeypatch.setattr(wiring, "checkpoints", lambda *_: cramped)
    policy = build_policy(tiny_config(tmp_path, tiny_model("qwen3_vl")))
    assert policy.start_checkpointing() is not cramped  # False: it does so already


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


@pytest.mark.parametrize("mode", ["synchronous", "one_process"])
def test_in_turns_no_published_version_is_missed(tmp_path: Path, mode: str) -> None:
    config = tiny_config(tmp_path, tmp_path, f"collection.mode={mode}")
    store = build_weight_store(config, tmp_path / "weights")
    poller = build_weight_poller(config, tmp_path / "weights")
    for version in range(20):  # each published right after the look before it
        store.publish({"w": torch.zeros(1)}, version)
        found = poller.newer_than(version - 1)
        assert found is not None
        assert found[1] == version


def test_versions_of_a_run_begin_anew_whatever_the_model_was_exported_as(
    tmp_path: Path, model: Path
) -> None:
    export_policy(build_policy(tiny_config(tmp_path, model)), tmp_path / "exported", version=57)
    config = tiny_config(tmp_path, tmp_path / "exported")
    policy = build_policy(config)
    assert policy.weight_version == 0
    build_weight_store(config, tmp_path / "weights").publish(policy.weights(), 1)
    found = build_weight_poller(config, tmp_path / "weights").newer_than(policy.weight_version)
    assert found is not None  # a collector that held version 57 would wait for the 58th
    assert found[1] == 1


def test_the_watch_allows_for_what_a_learner_in_bf16_has_encoded(
    tmp_path: Path, model: Path
) -> None:
    full, half = (
        tiny_config(tmp_path, model, f"learning.learner.precision={precision}")
        for precision in ("full", "bf16")
    )
    policy = build_policy(full)
    tolerances = [watch.tolerance for c in (full, half) if (watch := build_watch(c, policy))]
    assert tolerances == [CPU_TOLERANCE, NARROW_TOLERANCE]


def test_a_store_of_adapters_says_which_model_they_are_for(tmp_path: Path, model: Path) -> None:
    whole = tiny_config(tmp_path, model)
    adapters = tiny_config(tmp_path, model, "agent.policy.lora.rank=2")
    assert not has_adapters(whole)
    assert has_adapters(adapters)
    assert build_weight_store(adapters, tmp_path).base == str(model)


def test_a_collector_with_a_client_opens_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(config: TrainingConfig) -> Any:
        raise AssertionError(f"{config.agent.model} was opened")

    monkeypatch.setattr(wiring, "build_policy", refuse)
    settings = ("engine.policy=node", "tasks.curriculum=success_rate", "agent.sees=screen")
    config = tiny_config(tmp_path, tmp_path, *settings)
    parts: Mapping[str, Any] = {
        "sink": ListSink(), "weights": Versions(), "admission": PacedAdmission(), "logs": tmp_path
    }  # fmt: skip
    with ExitStack() as opened:
        batcher = PolicyClient("collector-0.1", lambda: None)
        made = wiring.build_collector(
            config, "collector-0.1", 0, batcher=batcher, opened=opened, **parts
        )
        assert made.report().slots == 2
        with pytest.raises(AssertionError, match="was opened"):
            wiring.build_collector(config, "collector-0.1", 0, opened=opened, **parts)


@pytest.mark.parametrize(
    ("also", "words"),
    [
        ("tasks.curriculum=instruction_value", "no critic of their own"),
        ("engine.collector_gpus=0.5", "give server_gpus instead"),
    ],
)
def test_what_needs_a_policy_in_the_collector_is_refused(
    tmp_path: Path, also: str, words: str
) -> None:
    tiny_config(tmp_path, tmp_path, also)
    with pytest.raises(InvalidSetting, match=words):
        tiny_config(tmp_path, tmp_path, "engine.policy=node", also)
