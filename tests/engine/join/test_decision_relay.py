"""Decisions for members: from the policy process, bounded, refused and counted beyond that."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.listening_learner import listening_learner
from tests.engine.join.policy_processes import (
    LONG,
    Answering,
    any_screen,
    asked_learner,
    policy_process,
    silent_learner,
)
from tests.engine.join.test_join_listener import Member
from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import wait_until

from distrl.engine.join import decision_relay
from distrl.engine.join.decision_relay import DecisionRelay, ScreenCheck
from distrl.engine.join.decision_wire import PolicyAnswer, PolicyQuestion, ask_for
from distrl.engine.join.join_messages import JoinHeartbeat, pack, unpack
from distrl.engine.local.policy_connection import find_policy_process
from distrl.engine.serving.decision_messages import PackedDecision
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.wiring import build_inputs
from distrl.records import Observation, Screen

SCREEN = Screen(np.zeros((32, 16, 3), np.uint8))


def test_requests_overtake_each_other_and_none_is_taken_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_relay, "AT_ONCE", 0)  # each that is in order hears "later"
    with silent_learner(tmp_path) as (learner, _):
        member = Member(learner)
        body = pack(ask_for(1, "a/1", Observation("open it", SCREEN, ())))
        statuses = [
            member.post("decide", body, **{"distrl-sequence": str(number)}).status_code
            for number in (5, 3, 5, 3, 4, 5000, 3900)
        ]
        assert statuses == [429, 429, 409, 409, 429, 429, 409]
        assert learner.refusals == {"too_many_decisions": 4, "replayed": 3}


def test_a_decision_is_what_the_policy_process_answered(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model, "engine.policy=node")
    folder = tmp_path / "learner"
    with (
        policy_process(config, folder),
        DecisionRelay(partial(find_policy_process, folder), any_screen) as relay,
        listening_learner(folder, relay=relay) as learner,
    ):
        member = Member(learner)
        screen = Screen(np.zeros((720, 360, 3), np.uint8))
        answer = member.post("decide", pack(ask_for(7, "a/1", Observation("x", screen, ()))))
        decided = unpack(answer.content, PackedDecision)
        assert decided.number == 7
        assert len(decided.token_ids) == len(decided.log_probs) > 0

        def report() -> ServerReport | None:
            told = member.post("policy", pack(PolicyQuestion(("a/1",))))
            return unpack(told.content, PolicyAnswer).report

        wait_until(lambda: (told := report()) and told.batcher.decisions == 1 and not told.sessions)


def test_a_screen_that_the_model_cannot_take_is_refused_and_the_policy_goes_on_deciding(
    tmp_path: Path, model: Path
) -> None:
    config = tiny_config(tmp_path, model, "engine.policy=node")
    folder = tmp_path / "learner"
    check = ScreenCheck(config.agent.model, build_inputs(config))
    with (
        policy_process(config, folder),
        DecisionRelay(partial(find_policy_process, folder), check) as relay,
        listening_learner(folder, relay=relay) as learner,
    ):
        member = Member(learner)
        refused = member.post("decide", pack(ask_for(1, "a/1", Observation("x", SCREEN, ()))))
        assert refused.status_code == 422
        assert "which has 16 × 32 pixels" in refused.text
        fits = Screen(np.zeros((720, 360, 3), np.uint8))
        past = ask_for(2, "a/1", Observation("x", fits, (), (SCREEN,)))
        assert member.post("decide", pack(past)).status_code == 422
        answer = member.post("decide", pack(ask_for(3, "a/1", Observation("x", fits, ()))))
        assert unpack(answer.content, PackedDecision).number == 3
        sizes = ((360, 720), (16, 32))
        assert member.post("policy", pack(PolicyQuestion(sizes=sizes))).status_code == 422
        assert member.post("policy", pack(PolicyQuestion(sizes=sizes[:1]))).is_success
        assert learner.refusals == {"unfit_screen": 3}


def test_a_policy_process_that_takes_nothing_holds_up_nobodys_heartbeat(tmp_path: Path) -> None:
    full = Answering()
    with asked_learner(tmp_path, full) as learner, ThreadPoolExecutor(1) as thread:
        member, asking = Member(learner), Member(learner, "1" * 32)
        assert full.found.wait(LONG)  # so that the request is sent at once
        full.free.clear()
        body = pack(ask_for(1, "a/1", Observation("open it", SCREEN, ())))
        decided = thread.submit(asking.post, "decide", body)
        try:
            wait_until(lambda: full.asked == 1)
            assert member.post("heartbeat", pack(JoinHeartbeat(0))).is_success
            for _ in range(50):  # more than there are threads for requests
                assert asking.post("policy", pack(PolicyQuestion(("a/1",)))).is_success
        finally:
            full.free.set()
        assert decided.result(LONG).is_success
        wait_until(lambda: full.left == ["joined/0"])


def test_the_episodes_of_a_member_end_when_it_leaves_or_joins_again(tmp_path: Path) -> None:
    answering = Answering()
    with asked_learner(tmp_path, answering) as learner:
        for number in range(3):
            member = Member(learner)
            body = pack(ask_for(1, "a/1", Observation("open it", SCREEN, ())))
            assert member.post("decide", body).is_success
            wait_until(lambda: len(answering.left) == number)  # noqa: B023 — it is called at once
        assert member.post("leave", pack(JoinHeartbeat(0))).is_success
        wait_until(lambda: answering.left == ["joined/0", "joined/1", "joined/2"])
