"""Collectors whose policy is on a server: settings, and a collector that plays by adapters."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from rich.console import Console
from tests.agent.lora_server import BASE, LoraServer, serving_adapters
from tests.agent.test_served_adapters import FAMILY, SETTINGS, own_policy, trained
from tests.agent.tiny_models import tiny_model
from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import ListSink

from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.wiring import build_collector, build_weight_store
from distrl.errors import InvalidSetting, UnusableAnswer
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_store import WeightPoller

LORA = (
    "agent.policy.lora.rank=2",
    f"agent.policy.lora.targets='{SETTINGS.lora.targets}'" if SETTINGS.lora else "",
    "agent.policy.sampling.max_new_tokens=5",
)


@pytest.mark.parametrize(
    ("also", "words"),
    [
        ((), "as adapters alone"),
        ((*LORA, "agent.adapter=somewhere"), "leave agent.adapter empty"),
        ((*LORA, "engine.policy=node"), "no model of their own"),
        ((*LORA, "tasks.curriculum=instruction_value"), "no model of their own"),
    ],
)
def test_what_a_server_cannot_do_is_refused(
    tmp_path: Path, also: tuple[str, ...], words: str
) -> None:
    with pytest.raises(InvalidSetting, match=words):
        tiny_config(tmp_path, tmp_path, "agent.server=http://127.0.0.1:1/v1", *also)


def test_collecting_by_a_server_begins_with_the_gap_and_refuses_a_wide_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distrl.agent.served_gap.PROBE_SHAPE", (168, 112, 3))
    server = LoraServer("vllm", tiny_model(FAMILY), temperature_applied=False)
    run = RunDirectory(tmp_path / "run")
    run.path.mkdir()
    with serving_adapters(server) as url:
        cooled = (*LORA, "agent.policy.sampling.temperature=0.7")
        config = tiny_config(tmp_path, tiny_model(FAMILY), f"agent.server={url}", *cooled)
        with pytest.raises(UnusableAnswer, match="processed_logprobs"):
            LocalEngine(config, run, Console(quiet=True)).collect()
    assert not run.episodes.exists()


@pytest.mark.slow
def test_a_collector_plays_by_the_adapters_that_the_learner_published(tmp_path: Path) -> None:
    server, own, sink = LoraServer("vllm", tiny_model(FAMILY)), own_policy(), ListSink()
    with serving_adapters(server) as url, ExitStack() as opened:
        config = tiny_config(tmp_path, tiny_model(FAMILY), f"agent.server={url}", *LORA)
        store = build_weight_store(config, tmp_path / "weights")
        collector = build_collector(
            config,
            "collector-0.1",
            0,
            sink=sink,
            weights=WeightPoller(store, poll_seconds=0.0),
            admission=None,
            opened=opened,
            logs=tmp_path / "run" / "logs",
        )
        collector.run(1)
        store.publish(trained(own, 2).weights(), 2)
        collector.run(1)
    first, second = sink.all
    assert {each.weight_version for each in first.decisions} == {0}
    assert {each.weight_version for each in second.decisions} == {2}
    assert all(len(each.token_ids) == len(each.log_probs) > 0 for each in second.decisions)
    [handed_over] = (tmp_path / "run" / "adapters").iterdir()
    assert list(server.adapters) == [handed_over.name]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_run_is_trained_while_a_server_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Literal["vllm", "sglang"]
) -> None:
    """Each update goes to the server as an adapter, and what that decides is learned from."""
    monkeypatch.setattr("distrl.agent.served_gap.PROBE_SHAPE", (168, 112, 3))
    server = LoraServer(kind, tiny_model(FAMILY))
    run = RunDirectory.new(tmp_path / "runs", "served", datetime(2026, 1, 1, tzinfo=UTC))
    with serving_adapters(server) as url:
        words = (*LORA, f"agent.server={url}", "collection.mode=one_process", "devices.count=1")
        few = ("pacing.minimum_fill=1", "learning.learner.batch_trajectories=1")
        ends = (*few, "run.updates=2", "evaluation.before=0", "evaluation.after=0")
        config = tiny_config(tmp_path, tiny_model(FAMILY), *words, *ends)
        run.write_config(config)
        result = LocalEngine(config, run, Console(quiet=True)).train()
    assert (result.updates, result.weights_moved) == (2, True)
    stored = [each.trajectory for each in TrajectoryReader(run.trajectories).read()]
    versions = {turn.weight_version for each in stored for turn in each.decisions}
    assert versions == {0, 1}
    assert server.asked[0] == BASE
    [adapters] = set(server.asked) - {BASE}
    assert adapters.endswith("-v1")
    figures = [point.figures.get("watch/logprob_gap") for point in read_points(run.metrics)]
    gaps = [gap for gap in figures if gap is not None]
    assert gaps
    assert max(gaps) < 1e-4
