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
from typing import Any, Generic, Protocol, TypeVar

from distrl.devices.device import Device
from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.episodes.collector_tally import CollectorTally
from distrl.episodes.curriculum import State, TaskSource
from distrl.episodes.desk import Desk
from distrl.episodes.device_shelf import DeviceShelf
from distrl.episodes.device_threads import DeviceThreads
from distrl.episodes.episode import Episode
from distrl.episodes.episode_batch import Attempt, EpisodeBatch
from distrl.episodes.rota import Admission, Allowance, Booking, Rota
from distrl.episodes.task_queue import TaskQueue
from distrl.errors import DeviceError, InvalidSetting, JudgeError
from distrl.records import Trajectory
from distrl.tasks.judge import Judge

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
    most_attempts: int = 3  # at a task that faults keep from a verdict
    patience_seconds: float = 10.0  # with a device that hangs, when the collector has to end

    def __post_init__(self) -> None:
        if self.most_attempts < 1 or not self.patience_seconds >= 0.0:
            raise InvalidSetting(
                f"most_attempts={self.most_attempts!r}, patience_seconds="
                f"{self.patience_seconds!r}; give 1 attempt or more and 0 seconds or more"
            )


@dataclass(slots=True)
class _Shift:
    """One call of `run`. Nothing is delivered once it is over."""

    allowance: Allowance
    over: bool = False


class Collector(Generic[D]):
    """Plays tasks of a source on the devices of a shelf, and brings trajectories to a sink."""

    def __init__(
        self,
        name: str,
        desk: Desk,
        shelf: DeviceShelf[D],
        source: TaskSource,
        sink: TrajectorySink,
        judge_for: Callable[[D], Judge],
        admission: Admission | None = None,
        settings: CollectorSettings | None = None,
    ) -> None:
        self.name = name
        self.settings = settings or CollectorSettings()
        self._desk = desk
        self._sink = sink
        self._judge_for = judge_for
        tasks = TaskQueue(source, len(shelf), self.settings.most_attempts)
        self._rota = Rota(name, shelf, tasks, admission)
        self._shelf = shelf
        self._seats = shelf.seats
        self._tally = CollectorTally()
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
        shift = _Shift(Allowance(episodes))
        threads = DeviceThreads(
            self.name, self._seats, lambda: self._work(shift), on_end=self._desk.wake
        )
        with self._tally.at_work():
            self._desk.open()
            threads.start()
            try:
                self._desk.serve(lambda: threads.working and not self._overdue)
            finally:
                shift.over = True
                self._desk.close()
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
        for device in self._shelf.devices:
            with suppress(DeviceError):
                device.close()

    def _work(self, shift: _Shift) -> None:
        """One thread: one episode after the other, on whichever device is fit."""
        with self._tally.thread_at_work():
            while (booking := self._book(shift)) is not None:
                episode = self._begin(booking)
                if episode is not None:
                    self._play(booking, episode, shift)

    def _book(self, shift: _Shift) -> Booking[D] | None:
        """Wait until something can be started; None when it is time to go home."""
        with self._changed:
            while self._stop_at is None and not shift.over:
                found = self._rota.book(shift.allowance, self._desk.version, self._now)
                if isinstance(found, Booking):
                    return found
                if self._rota.nothing_left(shift.allowance) and not self._rota.in_flight:
                    return None
                with self._tally.stage(found):
                    self._changed.wait(POLL_SECONDS)
        return None

    def _play(self, booking: Booking[D], episode: Episode, shift: _Shift) -> None:
        ticket = self._desk.enter()
        try:
            while not episode.ended and not self._must_leave(shift):
                with self._tally.stage("decide"):
                    decision = self._desk.ask(ticket, episode.observation)
                episode.take(decision)
        except CancelledError:
            pass  # the desk has closed: the episode is left as it is
        finally:
            self._desk.leave(ticket)
        if episode.ended and not shift.over:
            self._finish(booking, episode.trajectory())
        else:
            self._abandon(booking)

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
        self._desk.renew()
        played: dict[str, Booking[D]] = {}
        collected = []

        def attempt(begun: tuple[Booking[D], Episode], seat: int) -> Attempt:  # noqa: ARG001
            booking, episode = begun
            played[booking.episode_id] = booking
            return Attempt(episode, self._desk)

        allowance = Allowance(count, free_retries=False)
        batch = EpisodeBatch(self._begun(allowance), range(self._seats), attempt)
        with self._tally.at_work(), self._tally.thread_at_work():
            for trajectory in batch.trajectories():
                self._lockstep_time += trajectory.device_seconds / self._seats
                self._finish(played.pop(trajectory.id), trajectory)
                collected.append(trajectory)
        return collected

    def _begun(self, allowance: Allowance) -> Iterator[tuple[Booking[D], Episode] | None]:
        """Episodes for seats that are free; None: nothing for now."""
        while allowance.fresh:
            found = self._rota.book(allowance, self._desk.version, self._now)
            if isinstance(found, Booking):
                episode = self._begin(found)
                if episode is not None:
                    yield found, episode
            elif found == "admission":
                return
            elif self._rota.in_flight:
                yield None
            else:  # all in quarantine, and nobody plays: nothing but time can pass
                self._lockstep_time = self._rota.shelf.next_release(self._now)

    # What both have in common -------------------------------------------------------------------

    @property
    def _now(self) -> float:
        return time.monotonic() if self._lockstep_time is None else self._lockstep_time

    def _begin(self, booking: Booking[D]) -> Episode | None:
        """A clean phone with its first screen; None if there was none to be had."""
        try:
            return Episode.begin(
                booking.assignment.task,
                booking.device,
                self._judge_for(booking.device.device),
                episode_id=booking.episode_id,
                stop_on_success=self.settings.stop_on_success,
            )
        except (DeviceError, JudgeError) as error:
            self._tally.failed_start(error)
            with self._changed:
                self._rota.failed_to_start(booking, error, self._now)
                self._changed.notify_all()
            return None

    def _finish(self, booking: Booking[D], trajectory: Trajectory) -> None:
        """Deliver it, and tell everybody how it went."""
        with self._tally.stage("deliver"):
            new = self._sink.put(trajectory)
        device, attempt = booking.device.name, booking.assignment.attempt
        self._tally.acknowledged(trajectory, device, attempt, booking.began, new=new)
        with self._changed:
            self._rota.ended(booking, trajectory.ending, self._now)
            self._changed.notify_all()

    def _abandon(self, booking: Booking[D]) -> None:
        self._tally.abandoned()
        with self._changed:
            self._rota.abandoned(booking, self._now)
            self._changed.notify_all()

    # What there is to know ----------------------------------------------------------------------

    def report(self) -> CollectorReport:
        """How it stands. Any thread may ask at any time."""
        with self._changed:
            return self._tally.report(
                self.name, self._rota, self._desk.report(), self._now, self._stuck
            )

    def drain_finished(self) -> list[FinishedEpisode]:
        """The episodes that were acknowledged since this was last asked, the newest 10,000."""
        return self._tally.drain_finished()

    def state(self) -> State:
        """What a collector needs to go on where this one is, as plain JSON: counts and tasks.

        The random state of the policy is not in it; seed the policy when going on.
        """
        with self._changed:
            return self._rota.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        with self._changed:
            self._rota.load_state(state)
