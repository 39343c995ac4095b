"""What every judge of an episode can do, and the judge that defers its verdict.

`phonesim.tasks.fact_judge.FactJudge` reads the facts of a simulated phone during the episode. Where
only somebody who sees the whole trajectory can judge (a vision-language model, a person),
`DeferredJudge` lets the episode end without a verdict, so that its phone does not wait: the
trajectory is judged later (`judge_thread_pool`).
"""

from __future__ import annotations

from typing import Protocol

from distrl.records import Task, Verdict


class Judge(Protocol):
    """Judges one episode: `begin` before its first screen, `verdict` at any time after."""

    def begin(self, task: Task) -> None: ...

    def verdict(self, answer: str | None) -> Verdict | None:
        """Return the verdict, or None if it comes later from a judge of whole trajectories."""
        ...


class DeferredJudge:
    """Leaves the verdict to a judge of whole trajectories.

    Where tasks need preparation, `preparing` does it; its own verdict is not asked for.
    """

    def __init__(self, preparing: Judge | None = None) -> None:
        self._preparing = preparing

    def begin(self, task: Task) -> None:
        if self._preparing is not None:
            self._preparing.begin(task)

    def verdict(self, answer: str | None) -> None:
        return None
