"""Where devices get their decisions: what a collector needs of whoever decides for it.

A desk in the same process decides with a policy of its own (`decision_desk`); one may as well pass
questions on to somebody else, who decides for several collectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from distrl.agent.policy import Policy
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.records import Decision, Observation


class DecisionService(Policy, Protocol):
    """Answers the questions of many threads. `PolicyBatcher` says what each call promises."""

    @property
    def version(self) -> int: ...

    def enter(self) -> int: ...

    def ask(self, handle: int, observation: Observation) -> Decision: ...

    def leave(self, handle: int) -> None: ...

    def open(self) -> None: ...

    def serve(self, going: Callable[[], bool]) -> None: ...

    def wake(self) -> None: ...

    def close(self) -> None: ...

    def update_weights(self) -> bool: ...

    def report(self) -> PolicyBatcherReport: ...
