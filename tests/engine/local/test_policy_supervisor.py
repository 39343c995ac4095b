"""The policy process of a machine: started, replaced when it dies or hangs, given up in the end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.engine.local.light_collectors import light_policy
from tests.engine.local.process_facts import PATIENCE, forked_by_us, has_ended
from tests.engine.local.test_collector_child import light_forkserver
from tests.episodes.made_up_collectors import wait_until

from distrl.engine.ingest.messages import Encodings
from distrl.engine.local.collector_pool import KILLED, Forkserver
from distrl.engine.local.policy_supervisor import PolicySupervisor
from distrl.errors import PolicyServerGone
from distrl.runs.run_directory import RunDirectory

pytestmark = pytest.mark.timeout(600)
Make = Callable[..., PolicySupervisor]


@pytest.fixture(scope="module")
def forkserver() -> Iterator[Forkserver]:
    with light_forkserver() as opened:
        assert opened.is_ready(PATIENCE)
        yield opened


@pytest.fixture
def make(tmp_path: Path, forkserver: Forkserver) -> Make:
    def made(
        said: list[str],
        behaviour: str = "",
        silent_seconds: float = PATIENCE,
        on_encodings: Callable[[Encodings], None] | None = None,
    ) -> PolicySupervisor:
        (tmp_path / "behaviour").write_text(behaviour)
        run = RunDirectory(tmp_path)
        return PolicySupervisor(
            run, forkserver, 2, silent_seconds, said.append, on_encodings, light_policy
        )

    return made


def decides(supervisor: PolicySupervisor, name: str) -> bool:
    return supervisor.report is not None and supervisor.report.name == name


def test_a_process_that_was_killed_is_replaced_and_the_last_one_ends_with_the_block(
    make: Make,
) -> None:
    said: list[str] = []
    with make(said) as supervisor:
        wait_until(lambda: decides(supervisor, "policy-0.1"))
        [pid] = forked_by_us("policy-0")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: decides(supervisor, "policy-0.2"))
        assert said == [f"policy-0.1 ended with code -9{KILLED}"]
        supervisor.check()
        [second] = forked_by_us("policy-0")
    assert has_ended(second)
    assert len(said) == 1  # its end was no failure


def test_one_that_is_silent_is_killed_and_replaced(make: Make) -> None:
    said: list[str] = []
    with make(said, silent_seconds=0.5) as supervisor:
        wait_until(lambda: decides(supervisor, "policy-0.2"))
    assert "policy-0.1 was silent" in said[0]


def test_when_it_fails_too_often_the_run_is_told_why(make: Make) -> None:
    said: list[str] = []
    with make(said, "fail") as supervisor:
        wait_until(lambda: not supervisor._thread.working)
        with pytest.raises(PolicyServerGone, match=r"collection\.restarts=2.*no GPU is left"):
            supervisor.check()
    assert len(said) == 3


def test_what_it_encodes_goes_to_the_learner_where_it_is_wanted(make: Make) -> None:
    heard: list[Encodings] = []
    with make([], on_encodings=heard.append):
        wait_until(lambda: bool(heard))
    assert heard == [Encodings((("prompt", "screen"),), b"parts")]
