"""The collector: many devices, one policy, and trajectories without end.

It is long-lived and plain: it knows nothing of processes, and its seams are small protocols. A
thread for each device drives its episodes; all of them ask one desk for decisions
(`decision_desk`), so that a device which waits for its screen holds up no other. What it promises:

- Every trajectory goes to the sink before its thread goes on, also those that a fault ended, each
  with its own ending. What was acknowledged is not sent again, and nothing is sent once `run` has
  returned.
- A task that no verdict came of is tried again on another device, a bounded number of times
  (`task_queue`); a device that fails again and again is left alone for a while (`device_shelf`).
- No episode starts that would be too old at its end, if there is an `Admission` to say so.
- `stop` may be called from any thread and from a signal handler. Episodes may go on for as long as
  it says and are then abandoned; their tasks are kept and come first when the collector goes on.
- An error that we did not foresee, in whichever thread, ends `run` and is raised from it.

`run` is for real work. `collect` plays the same way without threads, in lockstep: the same seeds,
devices and weights give the same trajectories, bit by bit; weights are taken over at its beginning.
Episode ids begin with the collector's name: one that is started anew must get a new name, unless it
goes on exactly where its saved state was, or its episodes would be taken for those it sent before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Protocol, TypeVar

from distrl.bounds import Bounds, check_bounds
from distrl.devices.device import Device
from distrl.episodes.collector_metrics import CollectorMetrics
from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.episodes.decision_service import DecisionService
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.device_threads import DeviceThreads
from distrl.episodes.episode import Episode
from distrl.episodes.episode_batch import Attempt, EpisodeBatch
from distrl.episodes.scheduler import Admission, EpisodeBudget, EpisodeScheduler, Lease
from distrl.episodes.task_queue import TaskQueue
from distrl.errors import DeviceError, JudgeError
from distrl.judging.judge import Judge
from distrl.records import Trajectory
from distrl.task_sets.curriculum import State, TaskSource

D = TypeVar("D", bound=Device)
POLL_SECONDS = 0.05  # how often a thread that may not start looks whether it may now


class TrajectorySink(Protocol):
    """Where trajectories go. `put` returns once it is durable: True if new, False if known before.

    It may wait, which holds this device back and no other. What it raises ends the collector, so
    trying again is up to the sink. It is called from many threads at once.
    """

    def put(self, trajectory: Trajectory) -> bool: ...


@dataclass(frozen=True, slots=True)
class CollectorSettings:
    """How episodes are played."""

    stop_on_success: bool = False  # the judge ends an episode as soon as the task is done
    max_attempts: Annotated[
        int, Bounds(1, unit="attempts at a task that faults keep from a verdict")
    ] = 3
    patience_seconds: Annotated[
        float, Bounds(0.0, unit="seconds for a device that hangs at the collector's end")
    ] = 10.0

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(slots=True)
class _Shift:
    """One call of `run`. Nothing is delivered once it is over."""

    episode_budget: EpisodeBudget
    over: bool = False


class Collector(Generic[D]):
    """Plays tasks of a source on the devices of a shelf, and brings trajectories to a sink."""

    def __init__(
        self,
        name: str,
        batcher: DecisionService,
        device_pool: DevicePool[D],
        source: TaskSource,
        sink: TrajectorySink,
        judge_for: Callable[[D], Judge],
        admission: Admission | None = None,
        settings: CollectorSettings | None = None,
    ) -> None:
        self.name = name
        self.settings = settings or CollectorSettings()
        self._batcher = batcher
        self._sink = sink
        self._judge_for = judge_for
        tasks = TaskQueue(source, len(device_pool), self.settings.max_attempts)
        self._scheduler = EpisodeScheduler(name, device_pool, tasks, admission)
        self._device_pool = device_pool
        self._slots = device_pool.slots
        self._metrics = CollectorMetrics()
        self._changed = threading.Condition()  # guards the rota
        self._lockstep_time: float | None = None  # device seconds that passed in `collect`
        self._stop_at: float | None = None
        self._stuck: tuple[str, ...] = ()

    # With threads -------------------------------------------------------------------------------

    def run(self, episodes: int | None = None) -> None:
        """Play until somebody calls `stop`, or until so many tasks and their retries are done.

        The policy works in this thread.
        """
        self._lockstep_time = None
        shift = _Shift(EpisodeBudget(episodes))
        threads = DeviceThreads(
            self.name, self._slots, lambda: self._work(shift), on_end=self._batcher.wake
        )
        with self._metrics.at_work():
            self._batcher.open()
            threads.start()
            try:
                self._batcher.serve(lambda: threads.working and not self._overdue)
            finally:
                shift.over = True
                self._batcher.close()
                patience = 0.0 if self._overdue else self.settings.patience_seconds
                self._stuck = threads.join(patience)
        threads.raise_failure()

    def stop(self, finish_within: float = 0.0) -> None:
        """Start nothing more; what is under way may go on for so many seconds."""
        self._stop_at = time.monotonic() + finish_within

    def close_devices(self) -> None:
        """Give back what the devices hold, once nobody plays; the next reset has it again.

        One that fails even at that is left as it is: its next reset finds out.
        """
        for device in self._device_pool.devices:
            with suppress(DeviceError):
                device.close()

    def _work(self, shift: _Shift) -> None:
        """One thread: one episode after the other, on whichever device is fit."""
        with self._metrics.thread_at_work():
            while (lease := self._book(shift)) is not None:
                episode = self._begin(lease)
                if episode is not None:
                    self._play(lease, episode, shift)

    def _book(self, shift: _Shift) -> Lease[D] | None:
        """Wait until something can be started; None when it is time to go home."""
        with self._changed:
            while self._stop_at is None and not shift.over:
                found = self._scheduler.book(shift.episode_budget, self._batcher.version, self._now)
                if isinstance(found, Lease):
                    return found
                if (
                    self._scheduler.nothing_left(shift.episode_budget)
                    and not self._scheduler.in_flight
                ):
                    return None
                with self._metrics.stage(found):
                    self._changed.wait(POLL_SECONDS)
        return None

    def _play(self, lease: Lease[D], episode: Episode, shift: _Shift) -> None:
        handle = self._batcher.enter()
        try:
            while not episode.ended and not self._must_leave(shift):
                with self._metrics.stage("decide"):
                    decision = self._batcher.ask(handle, episode.observation)
                episode.take(decision)
        except CancelledError:
            pass  # the desk has closed: the episode is left as it is
        finally:
            self._batcher.leave(handle)
        if episode.ended and not shift.over:
            self._finish(lease, episode.trajectory())
        else:
            self._abandon(lease)

    def _must_leave(self, shift: _Shift) -> bool:
        return shift.over or (self._stop_at is not None and time.monotonic() >= self._stop_at)

    @property
    def _overdue(self) -> bool:
        """Has a device hung for so long after a stop that it has to be left behind?"""
        patience = self.settings.patience_seconds
        return self._stop_at is not None and time.monotonic() >= self._stop_at + patience

    # Without threads ----------------------------------------------------------------------------

    def collect(self, count: int) -> list[Trajectory]:
        """Play `count` episodes at most, in lockstep: fewer if no more are admitted.

        Retries count, and those that come up last are left for the next call.
        """
        self._lockstep_time = self._lockstep_time or 0.0
        self._batcher.update_weights()
        played: dict[str, Lease[D]] = {}
        collected = []

        def attempt(begun: tuple[Lease[D], Episode], seat: int) -> Attempt:  # noqa: ARG001
            lease, episode = begun
            played[lease.episode_id] = lease
            return Attempt(episode, self._batcher)

        episode_budget = EpisodeBudget(count, free_retries=False)
        batch = EpisodeBatch(self._begun(episode_budget), range(self._slots), attempt)
        with self._metrics.at_work(), self._metrics.thread_at_work():
            for trajectory in batch.trajectories():
                self._lockstep_time += trajectory.device_seconds / self._slots
                self._finish(played.pop(trajectory.id), trajectory)
                collected.append(trajectory)
        return collected

    def _begun(self, episode_budget: EpisodeBudget) -> Iterator[tuple[Lease[D], Episode] | None]:
        """Episodes for seats that are free; None: nothing for now."""
        while episode_budget.fresh:
            found = self._scheduler.book(episode_budget, self._batcher.version, self._now)
            if isinstance(found, Lease):
                episode = self._begin(found)
                if episode is not None:
                    yield found, episode
            elif found == "admission":
                return
            elif self._scheduler.in_flight:
                yield None
            else:  # all in quarantine, and nobody plays: nothing but time can pass
                self._lockstep_time = self._scheduler.device_pool.next_release(self._now)

    # What both have in common -------------------------------------------------------------------

    @property
    def _now(self) -> float:
        return time.monotonic() if self._lockstep_time is None else self._lockstep_time

    def _begin(self, lease: Lease[D]) -> Episode | None:
        """A clean phone with its first screen; None if there was none to be had."""
        try:
            return Episode.begin(
                lease.assignment.task,
                lease.device,
                self._judge_for(lease.device.device),
                episode_id=lease.episode_id,
                stop_on_success=self.settings.stop_on_success,
            )
        except (DeviceError, JudgeError) as error:
            self._metrics.failed_start(error)
            with self._changed:
                self._scheduler.failed_to_start(lease, error, self._now)
                self._changed.notify_all()
            return None

    def _finish(self, lease: Lease[D], trajectory: Trajectory) -> None:
        """Deliver it, and tell everybody how it went."""
        with self._metrics.stage("deliver"):
            new = self._sink.put(trajectory)
        device, attempt = lease.device.name, lease.assignment.attempt
        self._metrics.acknowledged(trajectory, device, attempt, lease.began, new=new)
        with self._changed:
            self._scheduler.ended(lease, trajectory.ending, self._now)
            self._changed.notify_all()

    def _abandon(self, lease: Lease[D]) -> None:
        self._metrics.abandoned()
        with self._changed:
            self._scheduler.abandoned(lease, self._now)
            self._changed.notify_all()

    # What there is to know ----------------------------------------------------------------------

    def report(self) -> CollectorReport:
        """How it stands. Any thread may ask at any time."""
        with self._changed:
            return self._metrics.report(
                self.name, self._scheduler, self._batcher.report(), self._now, self._stuck
            )

    def drain_finished(self) -> list[FinishedEpisode]:
        """The episodes that were acknowledged since this was last asked, the newest 10,000."""
        return self._metrics.drain_finished()

    def state(self) -> State:
        """What a collector needs to go on where this one is, as plain JSON: counts and tasks.

        The random state of the policy is not in it; seed the policy when going on.
        """
        with self._changed:
            return self._scheduler.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        with self._changed:
            self._scheduler.load_state(state)
