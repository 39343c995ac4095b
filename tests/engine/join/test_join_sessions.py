"""Members keep their slots; each number of a request is taken once; refusals are counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.listening_learner import join_request

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.join import join_sessions
from distrl.engine.join.join_sessions import MAX_FAILURES, JoinSessions
from distrl.engine.supervision.collector_registry import FIRST_JOINED, CollectorRegistry
from distrl.errors import DataLost, JoinRefused
from distrl.json_lines import LineLog
from distrl.runs.run_directory import RunDirectory

TOKEN = "t" * 43


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[CollectorRegistry]:
    with LineLog.open(tmp_path / "episodes.jsonl") as lines:
        yield CollectorRegistry(
            count=0,
            restarts=0,
            silent_seconds=1.0,
            run=RunDirectory(tmp_path),
            episode_log=EpisodeLog(lines, lambda: 0.0),
            waiting=lambda: 0,
            say=lambda sentence: None,
            wake=lambda: None,
        )


@pytest.fixture
def sessions(registry: CollectorRegistry, tmp_path: Path) -> JoinSessions:
    return JoinSessions(registry, TOKEN, tmp_path / "members.json")


def refused(caught: pytest.ExceptionInfo[JoinRefused]) -> tuple[str, int]:
    return caught.value.reason, caught.value.status


def test_a_member_keeps_its_slot_also_after_a_restart_of_the_learner(
    sessions: JoinSessions, registry: CollectorRegistry, tmp_path: Path
) -> None:
    names = [sessions.join(join_request(m * 32)).info.name for m in "aba"]
    first = FIRST_JOINED
    assert names == [f"collector-{first}.1", f"collector-{first + 1}.1", f"collector-{first}.2"]
    again = JoinSessions(registry, TOKEN, tmp_path / "members.json")
    assert again.run == sessions.run
    assert again.join(join_request("b" * 32)).info.name == f"collector-{first + 1}.2"


def test_a_damaged_list_of_members_is_said(registry: CollectorRegistry, tmp_path: Path) -> None:
    file = tmp_path / "members.json"
    JoinSessions(registry, TOKEN, file).join(join_request("a" * 32))
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"1", b"0", 1))  # a flipped bit: another slot, say
    with pytest.raises(DataLost, match="checksum"):
        JoinSessions(registry, TOKEN, file)
    (tmp_path / "members.json").write_text('{"run": 3}')
    with pytest.raises(DataLost, match="cannot be read"):
        JoinSessions(registry, TOKEN, tmp_path / "members.json")


def test_each_number_is_taken_once_and_in_order(sessions: JoinSessions) -> None:
    request = join_request()
    sessions.join(request)
    sessions.claim(request.session, "deliver", "5")
    sessions.claim(request.session, "heartbeat", "4")  # another kind counts by itself
    for number in ("5", "4"):
        with pytest.raises(JoinRefused) as caught:
            sessions.claim(request.session, "deliver", number)
        assert refused(caught) == ("replayed", 409)
    for number in ("", "-1", "1e3", "9" * 19, "x"):
        with pytest.raises(JoinRefused) as caught:
            sessions.claim(request.session, "deliver", number)
        assert refused(caught) == ("malformed", 400)
    sessions.claim(request.session, "deliver", "6")


def test_only_the_newest_session_of_a_member_is_heard(sessions: JoinSessions) -> None:
    old, new = join_request(), join_request()
    sessions.join(old)
    sessions.join(new)
    with pytest.raises(JoinRefused) as caught:
        sessions.claim(old.session, "heartbeat", "9")
    assert refused(caught) == ("unknown_session", 410)
    with pytest.raises(JoinRefused) as caught:  # the very bytes of its join, once more
        sessions.join(old)
    assert refused(caught) == ("replayed", 409)
    session = sessions.claim(new.session, "heartbeat", "0")
    sessions.leave(session)
    assert len(sessions) == 0
    with pytest.raises(JoinRefused):
        sessions.claim(new.session, "heartbeat", "1")


def test_a_member_owns_its_episodes_of_all_sessions_and_no_others(sessions: JoinSessions) -> None:
    request = join_request()
    sessions.join(request)
    session = sessions.claim(request.session, "deliver", "0")
    number = session.info.number
    assert session.owns(f"collector-{number}.1/1/x")
    assert session.owns(f"collector-{number}.99/1/x")
    for other in (f"collector-{number + 1}.1/1/x", "collector-0.1/1/x", "x", f"{number}.1/x"):
        assert not session.owns(other)


def test_other_versions_and_too_many_are_refused(
    sessions: JoinSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(JoinRefused) as caught:
        sessions.join(dataclasses.replace(join_request(), protocol=2))
    assert refused(caught) == ("other_version", 426)
    monkeypatch.setattr(join_sessions, "MAX_MEMBERS", 1)
    sessions.join(join_request("a" * 32))
    with pytest.raises(JoinRefused) as caught:
        sessions.join(join_request("b" * 32))
    assert refused(caught) == ("full", 503)
    sessions.join(join_request("a" * 32))  # whoever is a member may come back


@pytest.mark.parametrize(
    "header", ["", "Bearer", TOKEN, f"bearer {TOKEN}", f"Bearer {TOKEN}x", "ß"]
)
def test_only_the_token_is_the_token(sessions: JoinSessions, header: str) -> None:
    sessions.check_token(f"Bearer {TOKEN}")
    with pytest.raises(JoinRefused) as caught:
        sessions.check_token(header)
    assert refused(caught) == ("wrong_token", 401)


def test_refusals_are_counted_and_who_fails_too_often_is_cut_off(
    sessions: JoinSessions, registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = JoinRefused("no", "wrong_token", 401)
    assert not any(sessions.refuse(refusal, "10.0.0.1") for _ in range(MAX_FAILURES))
    assert sessions.refuse(refusal, "10.0.0.1")
    assert not sessions.refuse(refusal, "10.0.0.2")
    sessions.succeeded("10.0.0.1")
    assert not sessions.refuse(refusal, "10.0.0.1")
    assert sessions.refusals == {"wrong_token": MAX_FAILURES + 3}
    assert registry.episode_log.all_faults() == {"join_wrong_token": MAX_FAILURES + 3}
    monkeypatch.setattr(join_sessions, "MAX_PEERS", 2)
    for number in range(10):
        sessions.refuse(refusal, f"10.0.1.{number}")
    assert len(sessions._failures) <= 3
