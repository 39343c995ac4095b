"""Many episodes at once, in lockstep, on the devices of one process.

Every round calls the policy once for all devices, acts on each, and gives a new task to each device
whose episode has ended, so that the batch stays full to the last few tasks. Devices act one after
another: this is for phones in memory, which answer in a millisecond. The order is fixed, so that
the same tasks, devices and policy give the same trajectories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from distrl.agent.policy import Policy
from distrl.episodes.episode import Episode
from distrl.records import Trajectory

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Attempt:
    """An episode in progress and its policy. Attempts that share a policy are decided in one batch.

    Agents that know their task, such as the scripted one, are made anew for each episode.
    """

    episode: Episode
    policy: Policy


class EpisodeBatch(Generic[T, D]):
    """Plays one episode for each task. `begin` starts one on a device that is free.

    A task that is None means "nothing now": the next task is taken after the next step.
    """

    def __init__(
        self, tasks: Iterable[T | None], devices: Sequence[D], begin: Callable[[T, D], Attempt]
    ) -> None:
        self._tasks = iter(tasks)
        self._free = list(devices)
        self._begin = begin
        self._busy: list[tuple[D, Attempt]] = []

    def trajectories(self) -> Iterator[Trajectory]:
        """Every trajectory, as its episode ends."""
        while self._start():
            self._step()
            ended = [pair for pair in self._busy if pair[1].episode.ended]
            self._busy = [pair for pair in self._busy if not pair[1].episode.ended]
            self._free += [device for device, _ in ended]
            yield from [attempt.episode.trajectory() for _, attempt in ended]

    def _start(self) -> bool:
        """Begin episodes on free devices; false when nothing is left to play."""
        for task in islice(self._tasks, len(self._free)):
            if task is None:
                break
            device = self._free.pop(0)
            self._busy.append((device, self._begin(task, device)))
        return bool(self._busy)

    def _step(self) -> None:
        """Decide for all episodes, one batch for each policy, and act on all."""
        groups: dict[int, tuple[Policy, list[Attempt]]] = {}
        for _, attempt in self._busy:
            _, attempts = groups.setdefault(id(attempt.policy), (attempt.policy, []))
            attempts.append(attempt)
        for policy, attempts in groups.values():
            decisions = policy.decide([attempt.episode.observation for attempt in attempts])
            for attempt, decision in zip(attempts, decisions, strict=True):
                attempt.episode.take(decision)
