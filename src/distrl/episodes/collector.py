"""The collector: plays episodes on many devices with one policy, and delivers the trajectories.

    EpisodeScheduler   decides which device plays which task, and whether an episode may start
    DecisionService    batches the observations of all devices into calls of the policy
    TrajectorySink     makes trajectories durable
    CollectorMetrics   counts endings and measures what devices wait for
    LiveFeed           publishes what each device shows, while somebody watches

An episode is a generator (`_episode`) that yields futures of decisions and deliveries. `run` gives
each device that may block its own thread, so that one that waits for its screen delays no other.
Episodes on devices that never block are advanced by one thread: rendering releases the GIL about
100 times per screen, so several rendering threads would contend for it. `DELIVERING` other threads
wait for the sink. The policy computes in the calling thread. `run` promises:

- Every trajectory is delivered before its device continues, also one that a fault ended, each with
  its own ending. An acknowledged one is not sent again, and nothing is sent after `run` returned.
- A task that ended without a verdict is retried on another device, a bounded number of times; a
  device that fails repeatedly is quarantined (`scheduler`, `device_pool`).
- The lease of a device that hangs is revoked after `episode_seconds`: its task goes to another
  device, a new thread replaces the hanging one, and what the old thread still returns is discarded.
  If all devices hang, `run` raises.
- If an `Admission` is given, no episode starts whose trajectory would be too stale.
- With `forks`, an episode on a device that can fork is followed by continuations from one of its
  steps, on the same device and lease. Each is a separate trajectory that names its parent and has
  its own `episode_seconds`. One that a stop or a fault cuts short is discarded, not retried, since
  its task was attempted.
- `stop` may be called from any thread and from a signal handler. Episodes may continue for the time
  it is given and are then abandoned; their tasks are kept and come first when the collector
  resumes. So are tasks whose device or sink does not return in time.
- An unexpected exception in any thread ends `run` and is raised from it.

`collect` plays without threads, in lockstep: the same seeds, devices and weights give the same
trajectories bit by bit; weights are updated once, at its beginning.

Episode ids begin with the collector's name. A restarted collector needs a new name, unless it
resumes from its exact state; otherwise its episodes would be refused as duplicates.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from distrl.devices.device import Device
from distrl.devices.safety.refusals import RefusalOutbox
from distrl.episodes.collector_report import CollectorMetrics, CollectorReport, FinishedEpisode
from distrl.episodes.collector_run import CollectorRun, Episodic
from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.episode import Attempt, Episode, EpisodeBatch
from distrl.episodes.live_feed import LiveFeed
from distrl.episodes.policy_batcher import DecisionService
from distrl.episodes.scheduler import Admission, EpisodeBudget, EpisodeScheduler, Lease
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.errors import DeviceError, DeviceTimeout, JudgeError
from distrl.judging.judge import Judge
from distrl.records import Decision, Ending, Observation, Trajectory
from distrl.task_sets.curriculum import State, TaskSource
from distrl.watched_threads import WatchedThreads

D = TypeVar("D", bound=Device)
POLL_SECONDS = 0.05  # between two checks whether a blocked thread may start an episode
DELIVERING = 8  # threads that wait for the sink, for all devices that never block


class Collector(Generic[D]):
    """Plays tasks of a source on the devices of a pool, and delivers trajectories to a sink."""

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
        clock: Callable[[], float] = time.monotonic,
        live: LiveFeed | None = None,
    ) -> None:
        self.name = name
        self.live = live or LiveFeed(None)
        self.refusals: RefusalOutbox | None = None  # set if the learner has another disk
        self.settings = settings or CollectorSettings()
        self._batcher = batcher
        self._device_pool = device_pool
        self._sink = sink
        self._judge_for = judge_for
        self._clock = clock
        self._blocking = device_pool.blocking
        seconds = self.settings.episode_seconds if self._blocking else math.inf
        self._scheduler = EpisodeScheduler(
            name, device_pool, source, admission, self.settings.max_attempts, seconds
        )
        self._metrics = CollectorMetrics(clock)
        self._changed = threading.Condition()  # guards the scheduler
        self._lockstep_time: float | None = None  # simulated clock of `collect`; None in `run`
        self._stop_at: float | None = None
        self._stuck: tuple[str, ...] = ()
        self._players: dict[str, int] = {}  # the thread that plays an episode, by episode id

    # With threads -------------------------------------------------------------------------------

    def run(self, episodes: int | None = None) -> None:
        """Play until `stop` is called, or until `episodes` tasks and their retries have ended."""
        self._lockstep_time = None
        run = CollectorRun(EpisodeBudget(episodes), self._metrics, self._blocking)
        patience = self.settings.patience_seconds
        threads = self._threads(run)
        with self._metrics.running():
            self._batcher.open()
            threads.start()
            try:
                grace = patience if self._blocking else 0.0
                self._batcher.serve(lambda: self._goes_on(threads, grace))
            finally:
                run.over = self._stop_at is None or self._overdue(patience)
                self._batcher.close()
                threads.join(0.0 if self._overdue(patience) else patience)
                run.over = True
                run.drop()
                with self._changed:
                    self._scheduler.leave_behind()
                self._stuck = threads.alive
        threads.raise_failure()

    def _goes_on(self, threads: WatchedThreads, grace: float) -> bool:
        """Revoke the leases of devices that hang; return whether `serve` must continue."""
        with self._changed:
            late, all_hang = self._scheduler.take_back(self._now), self._scheduler.all_hang
            for lease in late:
                threads.replace(self._players.pop(lease.episode_id))
        for lease in late:
            self._metrics.failed_start(lease.device.name, lease.expired())
        if late and all_hang:
            raise DeviceTimeout(f"all devices of {self.name} hang; {late[-1].expired()}")
        return threads.working and not self._overdue(grace)

    def _threads(self, run: CollectorRun) -> WatchedThreads:
        slots, wake = self._device_pool.slots, self._batcher.wake
        if self._blocking:
            play = partial(self._play_episodes, run)
            return WatchedThreads(f"{self.name}/device", play, wake, slots)
        others = (run.advance_episodes, *[run.deliver_queued] * DELIVERING)
        works: Iterator[Callable[[], None]] = iter((partial(self._start_episodes, run), *others))
        count = 1 + len(others)
        return WatchedThreads(f"{self.name}/worker", lambda: next(works)(), wake, count)

    def stop(self, finish_within: float = 0.0) -> None:
        """Start no more episodes; abandon those that still run after `finish_within` seconds."""
        self._stop_at = self._clock() + finish_within

    def close_devices(self) -> None:
        """Close all devices; the next reset opens them, or raises for one that did not close."""
        for device in self._device_pool.devices:
            with suppress(DeviceError):
                device.close()

    def _play_episodes(self, run: CollectorRun) -> None:
        """The loop of a device thread: one episode after another, on whichever device is ready."""
        with self._metrics.slots_running():
            while (lease := self._next_lease(run)) is not None:
                for _ in self._episode(lease, run):  # this thread blocks for its decisions
                    pass
                if self._players.pop(lease.episode_id, None) is None:
                    return  # the lease was revoked, and another thread has replaced this one

    def _start_episodes(self, run: CollectorRun) -> None:
        """Start episodes until there are no more; end the other threads when the last has ended."""
        try:
            with self._metrics.slots_running(self._device_pool.slots):
                while (lease := self._next_lease(run)) is not None:
                    with self._changed:
                        version = self._batcher.version
                        others = self._scheduler.leases(run.budget, version, self._now)
                    run.start(self._episode(each, run) for each in (lease, *others))
                with self._changed:
                    while self._scheduler.in_flight and not run.over:
                        self._changed.wait(POLL_SECONDS)
        finally:
            run.end_workers()

    def _next_lease(self, run: CollectorRun) -> Lease[D] | None:
        """Block until an episode may start; return None when there is nothing left to play."""
        with self._changed:
            while self._stop_at is None and not run.over:
                lease = self._scheduler.lease(run.budget, self._batcher.version, self._now)
                if isinstance(lease, Lease):
                    if self._blocking:
                        self._players[lease.episode_id] = threading.get_ident()
                    return lease
                if self._scheduler.nothing_left(run.budget) and not self._scheduler.in_flight:
                    return None
                free = self._device_pool.slots - self._scheduler.in_flight
                with self._metrics.stage(lease, slots=1 if self._blocking else free):
                    self._changed.wait(POLL_SECONDS)
        return None

    def _episode(self, lease: Lease[D], run: CollectorRun) -> Episodic:
        """Play an episode and deliver it; resume the generator when the yielded future is done."""
        if self._stop_at is not None:  # stopped since it was leased
            self._abandon(lease)
            return
        if (episode := self._begin(lease)) is None:
            return
        yield from self._decisions(lease, episode, lambda: self._must_abandon(run, lease))
        if (trajectory := self._trajectory(episode, run)) is None:
            self._abandon(lease)
            return
        if not self._settle(lease):
            return
        yield run.deliver(partial(self._deliver, lease, trajectory))
        forks = episode.forks(self.settings.forks)
        while True:
            with self._changed:
                self._scheduler.renew(lease, trajectory.ending, self._now)
            if (fork := next(forks, None)) is not None:  # restores the device to its snapshot
                yield from self._decisions(lease, fork, lambda: self._must_abandon(run, lease))
            branched = None if fork is None else self._trajectory(fork, run)
            if not self._settle(lease):
                return
            if branched is None:
                break
            yield run.deliver(partial(self._deliver, lease, branched))
        self._return(lease, trajectory.ending)

    def _decisions(
        self, lease: Lease[D], episode: Episode, must_abandon: Callable[[], bool]
    ) -> Episodic:
        """Play until the episode has ended or must be abandoned; yield each decision."""
        handle = self._batcher.enter()
        try:
            while not episode.ended and not must_abandon():
                self.live.show(lease, "deciding", episode)
                yield (decision := self._decision(handle, episode.observation))
                self.live.show(lease, "acting", episode, decision.result())
                episode.take(decision.result())
        except CancelledError:
            pass  # the batcher has closed: the episode stays unfinished
        finally:
            self._batcher.leave(handle)

    def _abandon(self, lease: Lease[D]) -> None:
        if self._settle(lease):
            self._metrics.abandoned()
            with self._changed:
                self._scheduler.abandoned(lease, self._now)
                self._changed.notify_all()

    def _trajectory(self, episode: Episode, run: CollectorRun) -> Trajectory | None:
        """Return the trajectory with its verdict; None if the episode was abandoned."""
        if not episode.ended or run.over:
            return None
        with self._metrics.stage("judge"):
            return episode.trajectory()

    def _decision(self, handle: int, observation: Observation) -> Future[Decision]:
        """Request a decision. The thread of a device that may block waits for it here."""
        if not self._blocking:
            decision = self._batcher.submit(handle, observation)
            self._metrics.time("decide", decision)
            return decision
        decision = Future()
        with self._metrics.stage("decide"):
            decision.set_result(self._batcher.ask(handle, observation))
        return decision

    def _must_abandon(self, run: CollectorRun, lease: Lease[D]) -> bool:
        return not self._scheduler.is_out(lease) or run.over or self._overdue(0.0)

    def _settle(self, lease: Lease[D]) -> bool:
        """Return whether the lease is still ours to return; False if it was revoked."""
        with self._changed:
            ours = self._scheduler.settle(lease, self._now)
            self._changed.notify_all()
            return ours

    def _overdue(self, grace: float) -> bool:
        """Return whether `grace` seconds have passed since the deadline of a stop."""
        return self._stop_at is not None and self._clock() >= self._stop_at + grace

    # Without threads ----------------------------------------------------------------------------

    def collect(self, count: int) -> list[Trajectory]:
        """Play at most `count` episodes in lockstep; fewer if no more are admitted.

        Retries count; those still queued at the end are left for the next call.
        """
        self._lockstep_time = self._lockstep_time or 0.0
        self._batcher.update_weights()
        slots = self._device_pool.slots
        leases: dict[str, Lease[D]] = {}
        collected: list[Trajectory] = []
        endings: dict[str, Ending] = {}  # of attempts, by id; their forks do not change them

        def attempt(begun: tuple[Lease[D], Episode], slot: int) -> Attempt:  # noqa: ARG001
            lease, episode = begun
            leases[lease.episode_id] = lease
            return Attempt(episode, self._batcher, episode.forks(self.settings.forks))

        budget = EpisodeBudget(count, free_retries=False)
        batch = EpisodeBatch(self._begin_episodes(budget), range(slots), attempt)
        with self._metrics.running(), self._metrics.slots_running():
            for trajectory in batch.trajectories():
                self._lockstep_time += trajectory.device_seconds / slots
                attempt_id = trajectory.attempt_id
                self._deliver(leases[attempt_id], trajectory)
                collected.append(trajectory)
                ending = endings.setdefault(attempt_id, trajectory.ending)
                if not (self.settings.forks and batch.plays(attempt_id)):
                    self._return(leases.pop(attempt_id), ending)
        return collected

    def _begin_episodes(self, budget: EpisodeBudget) -> Iterator[tuple[Lease[D], Episode] | None]:
        """Yield episodes for free slots; yield None if nothing can start now."""
        while budget.fresh:
            lease = self._scheduler.lease(budget, self._batcher.version, self._now)
            if isinstance(lease, Lease):
                if (episode := self._begin(lease)) is not None:
                    yield lease, episode
            elif lease == "admission":
                return
            elif self._scheduler.in_flight:
                yield None
            else:  # all devices are quarantined and none plays: advance the simulated clock
                self._lockstep_time = self._device_pool.next_release(self._now)

    # Shared by `run` and `collect` --------------------------------------------------------------

    @property
    def _now(self) -> float:
        return self._clock() if self._lockstep_time is None else self._lockstep_time

    def _begin(self, lease: Lease[D]) -> Episode | None:
        """Reset the device for the task; return None if that fails."""
        self.live.show(lease, "resetting")
        try:
            return Episode.begin(
                lease.assignment.task,
                lease.device,
                self._judge_for(lease.device),
                episode_id=lease.episode_id,
                stop_on_success=self.settings.stop_on_success,
                timer=lease.timer,
                forks=self.settings.forks > 0,
                elements=self.settings.elements,
                environment=self.settings.environment,
            )
        except (DeviceError, JudgeError) as error:
            if not self._settle(lease):
                return None
            self._metrics.failed_start(lease.device.name, error)
            self.live.show(lease, "failed", fault=error)
            with self._changed:
                self._scheduler.failed_to_start(lease, error, self._now)
                self._changed.notify_all()
            return None

    def _deliver(self, lease: Lease[D], trajectory: Trajectory) -> None:
        self.live.show(lease, "delivering", ended=trajectory)
        with self._metrics.stage("deliver"):
            new = self._sink.put(trajectory)
        with self._changed:
            self._scheduler.delivered(lease, trajectory.ending)
        self.live.show(lease, "idle", ended=trajectory)
        self._metrics.delivered(trajectory, lease, new=new)

    def _return(self, lease: Lease[D], ending: Ending) -> None:
        with self._changed:
            self._scheduler.ended(lease, ending, self._now)
            self._changed.notify_all()

    # Reports and state --------------------------------------------------------------------------

    def report(self) -> CollectorReport:
        """Return all counters. Thread-safe."""
        with self._changed:
            return self._metrics.report(
                self.name, self._scheduler, self._batcher.report(), self._now, self._stuck
            )

    def drain_finished(self) -> list[FinishedEpisode]:
        """Return the episodes acknowledged since the last call, the newest 10,000."""
        return self._metrics.drain_finished()

    def state(self) -> State:
        """Return the state to resume from, as JSON: all but the policy's random state."""
        with self._changed:
            return self._scheduler.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        with self._changed:
            self._scheduler.load_state(state)
