"""The weights of the best time of a run outlive the store's, and are exported if success fell."""

from __future__ import annotations

from pathlib import Path

import torch
from tests.engine.tiny_runs import tiny_config

from distrl.agent.loading import load_policy
from distrl.engine.ingest.success_watch import EPISODES, SuccessWatch
from distrl.engine.run.best_weights import BestWeights
from distrl.engine.wiring import build_policy
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_store import WeightStore


def play(watch: SuccessWatch, episodes: int, *, success: bool) -> None:
    for _ in range(episodes):
        watch.see(success=success, version=0)


def kept_versions(run: RunDirectory) -> list[int]:
    return [each.version for each in WeightStore.files_in(run.best_weights)]


def test_the_best_version_stays_when_the_store_lets_go_of_it(tmp_path: Path) -> None:
    run, watch, said = RunDirectory(tmp_path), SuccessWatch(), list[str]()
    store = WeightStore(run.weights, keep=2)
    best = BestWeights(run, store, watch, said.append)
    play(watch, EPISODES // 2, success=False)
    play(watch, EPISODES // 2, success=True)
    best.keep_if_best()  # nothing was published yet
    for version in range(1, 9):
        store.publish({"w": torch.full((3,), float(version))}, version)
        if version in (2, 4):
            play(watch, EPISODES // 4, success=True)  # better each time
        best.keep_if_best()
    assert [each.version for each in store.files()] == [7, 8]
    assert kept_versions(run) == [4]
    assert not said


def test_what_a_run_unlearned_is_exported_as_it_was(tmp_path: Path, model: Path) -> None:
    run, watch, said = RunDirectory(tmp_path), SuccessWatch(), list[str]()
    policy, store = build_policy(tiny_config(tmp_path, model)), WeightStore(run.weights)
    best = BestWeights(run, store, watch, said.append)
    good = policy.weights()
    store.publish(good, 1)
    play(watch, EPISODES, success=True)
    best.keep_if_best()
    best.export_if_fallen(policy)
    assert not run.best_policy.exists()
    for version in range(2, 7):
        policy.load_weights({name: each + 0.01 for name, each in policy.weights().items()}, version)
        store.publish(policy.weights(), version)
        play(watch, EPISODES // 4, success=False)
        best.keep_if_best()
    best.export_if_fallen(policy)
    opened = load_policy(run.best_policy)
    for name, weight in good.items():
        assert torch.equal(opened.weights()[name], weight), name
    [sentence] = said
    assert str(run.best_policy) in sentence
    assert "version 1" in sentence


def test_weights_that_are_gone_are_said_to_be(tmp_path: Path, model: Path) -> None:
    run, watch, said = RunDirectory(tmp_path), SuccessWatch(), list[str]()
    policy, store = build_policy(tiny_config(tmp_path, model)), WeightStore(run.weights)
    play(watch, EPISODES, success=True)
    play(watch, EPISODES, success=False)
    BestWeights(run, store, watch, said.append).export_if_fallen(policy)
    [sentence] = said
    assert "has no weights of the time when it was best" in sentence


def test_weights_that_were_damaged_are_said_to_be(tmp_path: Path, model: Path) -> None:
    run, watch, said = RunDirectory(tmp_path), SuccessWatch(), list[str]()
    policy, store = build_policy(tiny_config(tmp_path, model)), WeightStore(run.weights)
    best = BestWeights(run, store, watch, said.append)
    store.publish(policy.weights(), 1)
    play(watch, EPISODES, success=True)
    best.keep_if_best()
    [kept] = WeightStore.files_in(run.best_weights)
    content = kept.path.read_bytes()
    kept.path.unlink()
    kept.path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    play(watch, EPISODES, success=False)
    best.export_if_fallen(policy)
    [sentence] = said
    assert "could not be exported" in sentence
    assert not run.best_policy.exists()
