"""The listener outlives what a broken member sends, on all of its paths."""

from __future__ import annotations

from pathlib import Path

from benchmarks.hostile_requests import KINDS, SILENT, HostilePeer
from starlette.routing import Route
from tests.engine.join.policy_processes import silent_learner
from tests.engine.join.test_join_listener import Member

from distrl.engine.join.decision_wire import PolicyQuestion
from distrl.engine.join.join_messages import pack


def test_hostile_requests_of_every_kind_are_refused_and_nothing_fails(tmp_path: Path) -> None:
    with silent_learner(tmp_path) as (learner, policy):
        routes = [each for each in learner.service.application().routes if isinstance(each, Route)]
        posts = {each.path for each in routes if "POST" in (each.methods or ())}
        assert posts == {f"/{kind}" for kind in KINDS}
        member = Member(learner)
        peer = HostilePeer(learner.port, learner.identity.token(), member.session, seed=0)
        peer.attack(600)
        assert peer.statuses.total() >= 600
        assert not peer.statuses[500]
        assert not peer.statuses[SILENT]
        assert policy.asked == 0  # nothing of it reached the policy
        assert learner.refusals["malformed"] > 20
        assert Member(learner).post("policy", pack(PolicyQuestion())).is_success
