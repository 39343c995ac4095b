"""Sees to it that collectors live: who has died or hangs is ended by its id and started again.

A collector counts as hung when no heartbeat came for a while, or when it says for very long that it
has done nothing though it may. It is started again after a pause, which grows with each failure of
one that had not finished a single episode, as long as its budget of restarts in the last `WINDOW`
seconds lasts; then it is given up, and when the last one is given up, `CollectorsLost` is raised.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from distrl.engine.ingest.messages import Heartbeat
from distrl.engine.local.collector_child import CollectorChild
from distrl.errors import CollectorsLost

WINDOW = 600.0  # seconds over which restarts are counted
FIRST_PAUSE, MAX_PAUSE = 0.25, 30.0  # seconds before a restart
SILENT_HEARTBEATS = 6  # so many missing in a row: it hangs
SILENT_START_SECONDS = 180.0  # a new one loads its model first
STALLED_SECONDS = 900.0  # alive, allowed to play, and nothing done


@dataclass(slots=True)
class RestartBudget:
    """How often a collector may still be started again, and after which pause."""

    most: int
    _failures: deque[float] = field(default_factory=deque)
    _in_a_row: int = 0  # without any work in between

    def pause_after_failure(self, now: float, *, had_worked: bool = False) -> float | None:
        """Seconds until it may be started again; None: it has failed too often."""
        self._failures.append(now)
        while self._failures[0] < now - WINDOW:
            self._failures.popleft()
        alone = had_worked or len(self._failures) == 1
        self._in_a_row = 1 if alone else self._in_a_row + 1
        if len(self._failures) > self.most:
            return None
        return min(MAX_PAUSE, FIRST_PAUSE * 2.0 ** (self._in_a_row - 1))


@dataclass(slots=True)
class _Post:
    """One collector of the run, whichever process has it at the moment."""

    budget: RestartBudget
    child: CollectorChild | None = None
    state: str = ""
    heard: float = 0.0  # when its last heartbeat came, or when it was started
    spoken: bool = False  # has this process sent one yet?
    done: int = -1  # what it had done by then
    worked: bool = False  # has this process finished an episode?
    progressed: float = 0.0
    start_at: float | None = 0.0  # None: running, or given up


class Supervision:
    """Looks after all collectors of a run. `start` makes a process, `lost` hears of its end.

    While `may_start` says no, those that are due wait.
    """

    def __init__(
        self,
        count: int,
        restarts: int,
        heartbeat_seconds: float,
        start: Callable[[int, str], CollectorChild],
        lost: Callable[[CollectorChild, str], None],
        may_start: Callable[[], bool] = lambda: True,
    ) -> None:
        self._start = start
        self._may_start = may_start
        self._lost = lost
        self._silent_seconds = SILENT_HEARTBEATS * heartbeat_seconds
        self._posts = {number: _Post(RestartBudget(restarts)) for number in range(count)}
        self.restarts = 0

    @property
    def children(self) -> list[CollectorChild]:
        """Those that run now, or ran when somebody last looked."""
        return [post.child for post in self._posts.values() if post.child is not None]

    @property
    def numbers(self) -> set[int]:
        """Those that were not given up."""
        return {
            number
            for number, post in self._posts.items()
            if post.child is not None or post.start_at is not None
        }

    def states(self) -> dict[int, str]:
        """What each would go on from, by number."""
        return {number: post.state for number, post in self._posts.items() if post.state}

    def load_states(self, states: dict[int, str]) -> None:
        for number, state in states.items():
            if number in self._posts:
                self._posts[number].state = state

    def look(self, now: float) -> list[CollectorChild]:
        """End who hangs, start who is due; returns those that were just started."""
        started = []
        for number, post in self._posts.items():
            if post.child is not None and (trouble := self._trouble(post, post.child, now)):
                self._on_loss(post, post.child, trouble, now)
            due = post.child is None and post.start_at is not None and now >= post.start_at
            if due and self._may_start():
                post.child = self._start(number, post.state)
                post.heard = post.progressed = now
                post.spoken, post.done, post.worked, post.start_at = False, -1, False, None
                started.append(post.child)
        if not self.numbers:
            raise CollectorsLost(
                f"all {len(self._posts)} collectors failed more than collection.restarts times in "
                f"{WINDOW:g} s; see logs/ in the run directory for why, and resume the run"
            )
        return started

    def _trouble(self, post: _Post, child: CollectorChild, now: float) -> str | None:
        if not child.is_running():
            return f"ended with code {child.process.returncode}"
        patience = self._silent_seconds if post.spoken else SILENT_START_SECONDS
        if now - post.heard > patience:
            return f"was silent for {now - post.heard:.0f} s"
        if now - post.progressed > STALLED_SECONDS:
            return f"did nothing for {now - post.progressed:.0f} s"
        return None

    def _on_loss(self, post: _Post, child: CollectorChild, trouble: str, now: float) -> None:
        child.kill()
        self._lost(child, trouble)  # before it is closed: it may have left something to be read
        child.end()
        post.child = None
        pause = post.budget.pause_after_failure(now, had_worked=post.worked)
        post.start_at = None if pause is None else now + pause
        self.restarts += pause is not None

    def heard(self, child: CollectorChild, beat: Heartbeat, now: float) -> None:
        """A heartbeat has come."""
        child.report, child.state = beat.report, beat.state
        post = self._posts[child.number]
        post.heard, post.spoken, post.state = now, True, beat.state
        report = beat.report
        post.worked = report.trajectories > 0
        done = report.batcher.decisions + report.started + report.trajectories
        held = report.in_flight == 0  # nothing to do, or not allowed to
        if done != post.done or held:
            post.done, post.progressed = done, now

    def end_all(self) -> None:
        """Kill whoever still runs."""
        for post in self._posts.values():
            if post.child is not None:
                post.child.end()
                post.child = None
