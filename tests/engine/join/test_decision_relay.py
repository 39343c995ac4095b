"""Decisions for members: from the policy process, bounded, refused and counted beyond that."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.listening_learner import listening_learner
from tests.engine.join.policy_processes import policy_process, silent_learner, until
from tests.engine.join.test_join_listener import Member
from tests.engine.tiny_runs import tiny_config

from distrl.engine.join import decision_relay
from distrl.engine.join.decision_relay import DecisionRelay
from distrl.engine.join.decision_wire import PolicyAnswer, PolicyQuestion, ask_for
from distrl.engine.join.join_messages import pack, unpack
from distrl.engine.local.policy_connection import find_policy_process
from distrl.engine.serving.decision_messages import PackedDecision
from distrl.engine.serving.policy_server import ServerReport
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
        DecisionRelay(partial(find_policy_process, folder)) as relay,
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

        until(lambda: (told := report()) and told.batcher.decisions == 1 and not told.sessions)
