"""The weights of the best time of a run outlive the store's, and are exported if success fell."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
import torch
from tests.engine.tiny_runs import tiny_config

from distrl.agent.loading import load_policy
from distrl.engine.ingest.success_watch import EPISODES, SuccessWatch
from distrl.engine.run.best_weights import BestWeights
from distrl.engine.wiring import build_policy
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_store import WeightStore


def play(watch: SuccessWatch, episodes: int, *, success: bool, version: int = 0) -> None:
    for _ in range(episodes):
        watch.record(success=success, version=version)


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
            play(watch, EPISODES // 4, success=True, version=version)  # better each time
        best.keep_if_best()
    assert [each.version for each in store.files()] == [7, 8]
    assert kept_versions(run) == [4]
    assert not said


def test_kept_is_the_version_that_played_and_not_the_newest(tmp_path: Path) -> None:
    run, watch = RunDirectory(tmp_path), SuccessWatch()
    store = WeightStore(run.weights, keep=2)
    best = BestWeights(run, store, watch, lambda _: None)
    for version in (1, 2, 3):
        store.publish({"w": torch.full((3,), float(version))}, version)
    play(watch, EPISODES - 1, success=True, version=2)
    play(watch, 1, success=False, version=2)
    best.keep_if_best()
    assert kept_versions(run) == [2]
    store.publish({"w": torch.zeros(3)}, 4)
    play(watch, EPISODES, success=True, version=2)  # better, by weights that the store has not
    best.keep_if_best()
    assert [each.version for each in store.files()] == [3, 4]
    assert kept_versions(run) == [2]


def test_what_could_not_be_kept_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, watch, said = RunDirectory(tmp_path), SuccessWatch(), list[str]()
    store, unlimited = WeightStore(run.weights), resource.getrlimit(resource.RLIMIT_FSIZE)
    best = BestWeights(run, store, watch, said.append)
    store.publish({"w": torch.zeros(1000)}, 1)
    play(watch, EPISODES, success=True, version=1)

    def no_links(path: Path, _: Path) -> None:
        raise PermissionError(f"{path}: this disk has no links")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, unlimited[1]))  # a copy is cut
    try:
        best.keep_if_best()
        best.keep_if_best()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert kept_versions(run) == []
    [sentence] = said
    assert "tries again" in sentence
    best.keep_if_best()
    [kept] = WeightStore.files_in(run.best_weights)
    assert kept.path.read_bytes() == store.files()[0].path.read_bytes()
    assert watch.unkept_best is None


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
