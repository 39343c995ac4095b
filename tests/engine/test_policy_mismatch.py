"""Whole runs whose collectors act with something else than was published: they are stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.engine.test_one_process import begin
from tests.engine.test_vlm_judged_runs import QUIET
from tests.engine.tiny_runs import tiny_config
from torch import Tensor

from distrl.agent.vlm_policy import VlmPolicy
from distrl.cli.train import new_directory
from distrl.engine.local.local_engine import LocalEngine
from distrl.errors import WeightsDiffer
from distrl.runs.metrics import read_points
from distrl.weights.weight_store import WeightStore

UNTESTED = ("evaluation.before=0", "evaluation.after=0")


def test_weights_that_are_announced_and_not_loaded_stop_the_run(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def number_alone(policy: VlmPolicy, weights: Mapping[str, Tensor], version: int) -> None:
        policy.weight_version = version

    engine = begin(tmp_path, model, "run.updates=20", *UNTESTED)
    monkeypatch.setattr(VlmPolicy, "load_weights", number_alone)
    with pytest.raises(WeightsDiffer, match=r"collector-0\.1 acts with .* version \d"):
        engine.train()


@pytest.mark.slow
def test_a_run_that_is_in_order_is_watched_all_the_time(tmp_path: Path, model: Path) -> None:
    engine = begin(tmp_path, model, "run.updates=4", *UNTESTED)
    assert engine.train().updates == 4
    points = [each.figures for each in read_points(engine.directory.metrics)]
    gaps = [each["watch/logprob_gap"] for each in points if "watch/logprob_gap" in each]
    assert gaps
    assert max(each for each in gaps if each is not None) < 1e-4


@pytest.mark.slow
def test_weights_that_are_changed_on_the_way_to_other_processes_stop_the_run(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = WeightStore.publish

    def changed(store: WeightStore, weights: Mapping[str, Tensor], version: int) -> None:
        first, *_ = weights
        publish(store, {**weights, first: weights[first] + 1e-6}, version)

    monkeypatch.setattr(WeightStore, "publish", changed)
    config = tiny_config(tmp_path, model, "run.updates=500", *UNTESTED)
    engine = LocalEngine(config, new_directory(config), QUIET)
    with pytest.raises(WeightsDiffer, match=r"collector-\d\.1 acts with"):
        engine.train()
