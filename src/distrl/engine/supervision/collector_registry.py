"""The registry of a run's collectors, on this machine and on a cluster.

It has a slot for each collector of the run and knows, for each slot: which process has it, when the
last heartbeat came, what a replacement resumes from (`state`), and how often it may still be
restarted. It starts and kills nothing. A transport does (`local.collector_pool`: processes and
sockets; `ray.collector_pool` and `ray.learner_actor`: actors), by these rules:

- `register` gives a new process its state and a name that no collector of the run had before. A
  repeated call of the same process (Ray resends one whose answer was lost) gets the same answer.
- A collector without a heartbeat for `silent_seconds` (`SILENT_START_SECONDS` before its first), or
  with episodes in flight and no progress for `STALLED_SECONDS`, is `unresponsive`: kill it.
  Time in which this process itself stood still or had no CPU does not count as silence: between two
  checks at most `LOOK_SECONDS` count, so that collectors on a machine that is slow as a whole are
  not taken for hanging.
- `report_exit` says when a replacement may start: after a pause that grows with each failure of a
  collector that had delivered nothing. After more than `restarts` failures (lost nodes not counted)
  within `WINDOW` seconds the slot is given up; when all slots are, `check` raises `CollectorsLost`.
- Slots from `FIRST_JOINED` on belong to collectors that join from other machines (`engine.join`);
  they are created as these arrive. We can neither start nor kill those: if one falls silent, its
  slot is free until it joins again, and no restart is counted.
- A process that was replaced and comes back (after a network failure, say) is told to stop, with no
  other effect. After a restart of the learner, a slot's newest process is recognised by its next
  heartbeat.

Synchronous; the clock is passed in; any thread may call.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Heartbeat, Pace
from distrl.engine.supervision.collector_notes import CollectorNotebook, note
from distrl.engine.supervision.phone_records import PhoneRecords
from distrl.engine.supervision.process_names import new_name, starts
from distrl.engine.supervision.restart_budget import (
    SILENT_START_SECONDS,
    STALLED_SECONDS,
    WINDOW,
    RestartBudget,
)
from distrl.engine.supervision.room_shares import RoomShares
from distrl.episodes.collector_report import CollectorReport
from distrl.errors import CollectorsLost
from distrl.runs.run_directory import RunDirectory

FIRST_JOINED = 1024  # first slot number of joined collectors; others have lower numbers
JOINED_SILENT_SECONDS = 60.0  # without a heartbeat: as long as it may play without its learner
LOOK_SECONDS = 1.0  # between two checks; beyond that, this process was slow or stopped (Ctrl-Z)
LAST_SECONDS = 10.0  # after the deadline of a stop, before collectors that remain are killed


@dataclass(frozen=True, slots=True)
class CollectorInfo:
    """One process that collects (`name`), its slot (`number`) and its node (empty: this one)."""

    name: str
    number: int
    place: str = ""

    @property
    def start(self) -> int:
        """How many processes this slot has had, this one included."""
        return int(self.name.rpartition(".")[2])

    def __str__(self) -> str:
        return f"{self.name} on {self.place}" if self.place else self.name


@dataclass(frozen=True, slots=True)
class Registration:
    """What a collector begins with: its name, and the state (JSON) that it resumes from."""

    info: CollectorInfo
    state: str


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    """A collector's orders: the pace, and whether to stop.

    `finish_within`: stop, with that many seconds for episodes in flight; None: go on. `superseded`:
    another process has this collector's slot by now. `watched`: somebody looks at the phones.
    """

    pace: Pace
    finish_within: float | None = None
    superseded: bool = False
    watched: bool = False


class PacedAdmission:
    """Implements `Admission` in a collector by the last pace received; before it, none starts."""

    def __init__(self) -> None:
        self.pace = Pace(version=0)

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        return self.pace.may_start(weight_version, in_flight)


@dataclass(slots=True)
class _Slot:
    """One collector of the run, whichever process has it at the moment."""

    budget: RestartBudget
    newest: int  # the `start` of the newest known process
    state: str = ""
    info: CollectorInfo | None = None
    process: str = ""  # the id that the registered process gave itself
    report: CollectorReport | None = None
    in_flight: int = 0
    heard: float = 0.0  # when its last heartbeat came, or when it registered
    spoken: bool = False  # has this process sent a heartbeat?
    worked: bool = False  # has this process delivered a trajectory?
    done: int = -1  # count of what it had done at its last progress
    progressed: float = 0.0
    ended: bool = False  # has the newest process ended?
    start_at: float | None = -float("inf")  # None: a process has the slot, or it was given up
    given_up: bool = False


@dataclass(slots=True)
class CollectorRegistry:
    """All collectors of a run."""

    count: int
    restarts: int
    silent_seconds: float
    run: RunDirectory
    episode_log: EpisodeLog
    waiting: Callable[[], int]  # trajectories stored and not yet taken by the learner
    say: Callable[[str], None]
    wake: Callable[[], None]  # called when a slot was given up
    wanted: Callable[[], int | None] = lambda: None  # trajectories that the run still wants
    shares: RoomShares = RoomShares()
    clock: Callable[[], float] = time.monotonic
    stop_at: float | None = None  # when all must have ended; None: nobody asked for it
    _looked: float = float("inf")  # when `unresponsive` was last called
    _pace: Pace = Pace(version=0)
    _ended: Counter[str] = field(default_factory=Counter)  # `stages` of those that have ended
    _slots: dict[int, _Slot] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _notebook: CollectorNotebook = field(init=False)
    phone_records: PhoneRecords = field(init=False)

    def __post_init__(self) -> None:
        self._notebook = CollectorNotebook(self.run.collectors, self.clock)
        self.phone_records = PhoneRecords(self.run.refusals, self.episode_log.faults)
        for number in range(self.count):
            self._add(number, start_at=-float("inf"))

    def _add(self, number: int, start_at: float | None) -> None:
        newest = max(starts(self.run, number), default=0)
        self._slots[number] = _Slot(RestartBudget(self.restarts), newest, start_at=start_at)

    def admit(self, number: int) -> None:
        """Create the slot of a joined collector, unless there is one."""
        with self._lock:
            if number not in self._slots:
                self._add(number, start_at=None)

    def load_states(self, states: Mapping[int, str]) -> None:
        """Set what collectors resume from, by number; from a checkpoint."""
        for number, state in states.items():
            if number >= FIRST_JOINED:
                self.admit(number)
            if number in self._slots:
                self._slots[number].state = state

    # Collectors -------------------------------------------------------------------------------

    def register(self, number: int, place: str = "", process: str = "") -> Registration:
        """Give the slot to a new process; a process that still has it counts as lost.

        `process`: an id that no other process has, to recognise a repeated call; empty: none comes.
        """
        with self._lock:
            slot = self._slots[number]
            if slot.info is not None and process and process == slot.process:
                return Registration(slot.info, slot.state)
            if slot.info is not None:
                self._lose(slot, "is gone")
            slot.process = process
            name = new_name(self.run, number)
            info = CollectorInfo(name, number, place)
            slot.newest = info.start
            self._occupy(slot, info, spoken=False)
            if place:
                self.say(f"{name} is on {place}")
            return Registration(info, slot.state)

    def heartbeat(
        self, info: CollectorInfo, in_flight: int, heartbeat: Heartbeat | None = None
    ) -> HeartbeatReply:
        """Record a heartbeat, now and then with a full report; return the collector's orders."""
        with self._lock:
            slot = self._slots[info.number]
            if slot.info is None and not slot.ended and info.start >= slot.newest:
                slot.newest = info.start  # it outlived a restart of the learner
                self._occupy(slot, info, spoken=True)
                self.say(f"{info.name} is on {info.place}, and goes on")
            current = slot.info is not None and slot.info.name == info.name
            if current:
                slot.in_flight, slot.heard, slot.spoken = in_flight, self.clock(), True
                if heartbeat is not None:
                    self._record(slot, heartbeat)
                    self._write_notes()
            orders = self.orders(info.number)
        if heartbeat is not None:
            self.phone_records.take(heartbeat.refusals)
            for episode in heartbeat.finished:
                self.episode_log.finished(episode)
        return orders if current else HeartbeatReply(orders.pace, 0.0, superseded=True)

    def delivered(self, name: str) -> None:
        """Record that the collector delivered a trajectory, so that it counts as having worked."""
        with self._lock:
            for slot in self._slots.values():
                if slot.info is not None and slot.info.name == name:
                    slot.worked = True

    def deregister(self, info: CollectorInfo, last: Heartbeat | None = None) -> None:
        """Free the slot of a process that has ended as it was told to."""
        if last is not None:
            self.heartbeat(info, 0, last)
        with self._lock:
            slot = self._slots[info.number]
            if slot.info is not None and slot.info.name == info.name:
                self._release(slot)

    def _occupy(self, slot: _Slot, info: CollectorInfo, *, spoken: bool) -> None:
        now = self.clock()
        slot.info, slot.spoken, slot.heard, slot.progressed = info, spoken, now, now
        slot.done, slot.worked, slot.ended, slot.start_at = -1, False, False, None

    def _record(self, slot: _Slot, heartbeat: Heartbeat) -> None:
        report = heartbeat.report
        slot.report, slot.state = report, heartbeat.state
        slot.worked |= report.trajectories > 0
        done = report.batcher.decisions + report.started + report.trajectories
        if done != slot.done or report.in_flight == 0:  # idle: no task, or not allowed to start
            slot.done, slot.progressed = done, self.clock()

    def _write_notes(self) -> None:
        if self._notebook.is_due:
            self._notebook.write(
                note(each.info.name, each.info.place, each.in_flight, each.report)
                for each in self._slots.values()
                if each.info is not None
            )

    def _lose(self, slot: _Slot, trouble: str) -> None:
        """Free the slot of a process that ended without deregistering; count the fault."""
        self.say(f"{slot.info} {trouble}")
        self.episode_log.faults["collector_lost"] += 1
        self._release(slot)

    def _release(self, slot: _Slot) -> None:
        if slot.info is not None:
            self.episode_log.close(f"{slot.info.name}/")
        if slot.report is not None:
            self._ended.update(slot.report.stages)
            self.phone_records.ended(slot.report)
        slot.info, slot.report, slot.in_flight, slot.ended = None, None, 0, True

    # Transports -------------------------------------------------------------------------------

    def orders(self, number: int) -> HeartbeatReply:
        """Return what the collector of that slot is to do now."""
        with self._lock:
            others = {at: slot.in_flight for at, slot in self._slots.items() if at != number}
            pace = self.shares.pace_of(number, self._pace, others, self.waiting())
            if (wanted := self.wanted()) is not None:
                pace = dataclasses.replace(pace, wanted=max(0, wanted - sum(others.values())))
            if self.stop_at is None:
                return HeartbeatReply(pace)
            return HeartbeatReply(pace, max(0.0, self.stop_at - self.clock()))

    def unresponsive(self) -> list[tuple[CollectorInfo, str]]:
        """Return which collectors to kill, and why; a joined one loses its slot instead."""
        found = []
        with self._lock:
            self._forgive_own_pause()
            for number, slot in self._slots.items():
                trouble = self._trouble(slot, joined=number >= FIRST_JOINED)
                if trouble and number >= FIRST_JOINED:
                    self._lose(slot, trouble)
                elif trouble and slot.info is not None:
                    found.append((slot.info, trouble))
        return found

    def _forgive_own_pause(self) -> None:
        """Do not count a pause of ours as silence: messages sent meanwhile may be unread yet."""
        now = self.clock()
        pause, self._looked = now - self._looked, now
        if (forgiven := pause - LOOK_SECONDS) > 0.0:
            for slot in self._slots.values():
                slot.heard = min(now, slot.heard + forgiven)
                slot.progressed = min(now, slot.progressed + forgiven)

    def _trouble(self, slot: _Slot, *, joined: bool) -> str:
        """Return what is wrong with the slot's process; empty if nothing, or if it has none."""
        if slot.info is None:
            return ""
        now = self.clock()
        silent, stalled = now - slot.heard, now - slot.progressed
        allowed = max(self.silent_seconds, JOINED_SILENT_SECONDS if joined else 0.0)
        if silent > (allowed if slot.spoken else SILENT_START_SECONDS):
            return f"was silent for {silent:.0f} s"
        return f"did nothing for {stalled:.0f} s" if stalled > STALLED_SECONDS else ""

    def report_exit(self, number: int, trouble: str, *, node_lost: bool = False) -> float | None:
        """Record the death of a slot's process; return the seconds to a restart, None: given up."""
        with self._lock:
            slot = self._slots[number]
            worked, slot.worked = slot.worked, False
            if slot.info is not None:
                self._lose(slot, trouble)
            pause: float | None = 0.0
            if not node_lost:
                pause = slot.budget.pause_after_failure(self.clock(), had_worked=worked)
            slot.ended, slot.given_up = True, pause is None
            slot.start_at = None if pause is None else self.clock() + pause
        if pause is None:
            self.wake()
        return pause

    def due(self) -> list[int]:
        """Return the slots whose collector is to be started now."""
        now = self.clock()
        with self._lock:
            slots = self._slots.items()
            return [at for at, slot in slots if slot.start_at is not None and now >= slot.start_at]

    # The learner ------------------------------------------------------------------------------

    def set_pace(self, pace: Pace) -> None:
        """Set how far collectors may go from now on."""
        self._pace = pace

    def stop(self, finish_within: float) -> None:
        """Tell all to stop; episodes in flight may take that many seconds."""
        self.stop_at = self.clock() + finish_within

    def is_over(self) -> bool:
        """Return whether, after `stop`, all have ended or their time is up."""
        if self.stop_at is None:
            return False
        return not self.collectors() or self.clock() > self.stop_at + LAST_SECONDS

    def close(self) -> None:
        """Deregister all and log their open episodes: no collector will send anything more."""
        for info in self.collectors():
            self.deregister(info)
        self.episode_log.close()

    def check(self) -> None:
        """Raise `CollectorsLost` if every slot was given up and no collector has joined."""
        if self.count and not self.numbers() and not self.collectors():
            raise CollectorsLost(
                f"all {self.count} collectors failed more than collection.restarts="
                f"{self.restarts} times in {WINDOW:g} s; see logs/ in the run directory for why, "
                "and resume the run"
            )

    def numbers(self) -> set[int]:
        """Slots of this run's own collectors that were not given up."""
        slots = self._slots.items()
        return {at for at, slot in slots if not slot.given_up and at < FIRST_JOINED}

    def collectors(self) -> list[CollectorInfo]:
        """Processes that have a slot now."""
        with self._lock:
            return [slot.info for slot in self._slots.values() if slot.info is not None]

    def reports(self) -> list[CollectorReport]:
        """The last full report of each process that has a slot now."""
        with self._lock:
            return [slot.report for slot in self._slots.values() if slot.report is not None]

    def phone_seconds(self) -> dict[str, float]:
        """Seconds of all phones by stage, over all collectors since this process started."""
        with self._lock:
            total = Counter(self._ended)
            for report in self.reports():
                total.update(report.stages)
            return dict(total)

    def states(self) -> dict[int, str]:
        """What each slot would resume from (JSON), by number."""
        with self._lock:
            return {number: slot.state for number, slot in self._slots.items() if slot.state}
