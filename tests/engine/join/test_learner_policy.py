"""A joined collector that asks the learner's policy, from another process, over real TLS."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.cheap_joined import join_cheaply
from benchmarks.faulty_relay import FaultyRelay
from benchmarks.listening_learner import join_request, listening_learner
from tests.engine.join.policy_processes import (
    LONG,
    Answering,
    Silent,
    asked_learner,
    policy_process,
    silent_learner,
)
from tests.engine.tiny_runs import start, tiny_config
from tests.episodes.made_up_collectors import wait_until

from distrl.config.toml_writer import to_toml
from distrl.engine.join import decision_relay, learner_client, learner_policy
from distrl.engine.join.bounded_protocol import IDLE_SECONDS
from distrl.engine.join.decision_relay import DecisionRelay, ScreenCheck, Size
from distrl.engine.join.decision_wire import ask_for
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.local.policy_connection import find_policy_process
from distrl.engine.wiring import build_inputs, build_policy
from distrl.errors import JoinRefused
from distrl.learning.batch import observation_of
from distrl.records import Observation, Screen
from distrl.replay.store.trajectory_reader import TrajectoryReader

SEEN = Observation("open it", Screen(np.zeros((32, 16, 3), np.uint8)), ())


@pytest.mark.slow
def test_another_process_plays_by_the_learners_policy_and_its_log_probs_are_the_learners(
    tmp_path: Path, model: Path
) -> None:
    config = tiny_config(tmp_path, model, "engine.policy=node", "collection.heartbeat_seconds=0.2")
    folder, log = tmp_path / "learner", tmp_path / "log"
    with ExitStack() as opened:
        opened.enter_context(policy_process(config, folder))
        find = partial(find_policy_process, folder)
        check = ScreenCheck(config.agent.model, build_inputs(config))
        relay = opened.enter_context(DecisionRelay(find, check))
        learner = opened.enter_context(
            listening_learner(folder, settings=to_toml(config), relay=relay)
        )
        words = [
            "collect", "--join", f"https://127.0.0.1:{learner.port}", "--policy", "learner",
            "--fingerprint", learner.identity.fingerprint, "--spool", str(tmp_path / "spool"),
            "--token-file", str(learner.identity.token_file),
            "--set", "devices.count=2", "--set", f"agent.model={tmp_path / 'no-model-here'}",
        ]  # fmt: skip
        program = "from distrl.cli.main import main; main()"
        process = start([sys.executable, "-c", program, *words], log)
        try:
            wait_until(lambda: len(learner.arrivals) >= 3 or process.poll() is not None)
            learner.registry.stop(20.0)
            assert process.wait(LONG) == 0, log.read_text()[-3000:]
        finally:
            process.kill()
            process.wait()
        assert learner.refusals == {}
    assert not list((tmp_path / "spool").glob("weights-*/*"))  # it fetched none
    stored = [each.trajectory for each in TrajectoryReader(folder / "store").read()]
    assert len(stored) >= 3
    policy = build_policy(config)
    for trajectory in stored:
        decisions = trajectory.decisions
        assert all(each.token_ids for each in decisions)
        with torch.no_grad():
            scores = policy.score(
                [observation_of(trajectory, at) for at in range(len(decisions))],
                [each.token_ids for each in decisions],
            )
        recorded = [value for each in decisions for value in each.log_probs]
        assert scores.log_probs[scores.token_mask].tolist() == pytest.approx(recorded, abs=1e-4)


def test_a_run_without_a_policy_process_says_so_and_ends_the_command(tmp_path: Path) -> None:
    with listening_learner(tmp_path / "learner") as learner, ExitStack() as opened:
        spool = TrajectorySpool(tmp_path / "spool", 8)
        joined = join_cheaply(learner.client(), spool, opened, learner_decides=True)
        assert joined.ended.wait(LONG)
        with pytest.raises(JoinRefused, match="or join with --policy own"):
            joined.thread.raise_failure()
        assert learner.refusals == {"no_policy": 1}


@pytest.mark.parametrize("asked", [0, 1])  # before it plays, and after
def test_a_screen_that_the_learner_refuses_ends_the_command(tmp_path: Path, asked: int) -> None:
    sizes = list[set[Size]]()

    def check(given: Iterable[Size]) -> None:
        sizes.append(set(given))
        if len(sizes) > asked:
            raise JoinRefused("the model cannot take it", "unfit_screen", 422)

    with asked_learner(tmp_path / "learner", Silent(), check) as learner, ExitStack() as opened:
        spool = TrajectorySpool(tmp_path / "spool", 8)
        joined = join_cheaply(learner.client(), spool, opened, learner_decides=True)
        assert joined.ended.wait(LONG)
        with pytest.raises(JoinRefused, match="the learner refuses: the model cannot take it"):
            joined.thread.raise_failure()
    assert sizes[0] == {(360, 720)}
    assert not any("does not answer" in each for each in joined.said)  # nothing was tried again


def test_without_a_decision_in_time_the_learner_counts_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distrl.engine.join.joined_collector.DECISION_SECONDS", 0.5)
    with silent_learner(tmp_path / "learner") as (learner, silent), ExitStack() as opened:
        spool = TrajectorySpool(tmp_path / "spool", 8)
        joined = join_cheaply(learner.client(), spool, opened, learner_decides=True)
        wait_until(lambda: any("no phone is touched" in each for each in joined.said))
        wait_until(lambda: silent.asked > 0)
        assert learner.stored() == []


def test_connections_are_kept_from_decision_to_decision(tmp_path: Path) -> None:
    at_once = learner_policy.AT_ONCE
    line = Answering(together=at_once)
    with (
        asked_learner(tmp_path, line) as learner,
        FaultyRelay(learner.port) as network,
        learner.client(network.port) as client,
        ThreadPoolExecutor(at_once) as threads,
    ):
        client.join(join_request())
        assert line.found.wait(LONG)
        counts = []
        for _ in range(2):
            asks = [ask_for(n, f"a/{n}", SEEN) for n in range(at_once)]
            list(threads.map(client.decide, asks))
            counts.append(network.connections)
        assert counts[0] >= at_once
        assert counts[1] == counts[0]
    assert (learner_client.CONNECTIONS.keepalive_expiry or IDLE_SECONDS) < IDLE_SECONDS


def test_what_it_has_under_way_is_never_too_much_for_the_learner() -> None:
    assert learner_policy.AT_ONCE <= decision_relay.AT_ONCE // 2  # and as many that were given up
