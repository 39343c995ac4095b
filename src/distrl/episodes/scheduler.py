"""Assigns tasks to devices: leases a task and a device together, if an episode may start.

Fresh tasks come from a `TaskSource`. A task whose attempt ended without a verdict is queued again
for a device that has not failed it yet, up to `max_attempts` attempts in all; queued tasks come
before fresh ones. Tasks of abandoned episodes are queued too, and are in the saved state, so that
they come first when a collector resumes.

Every lease is returned exactly once, with the ending of its episode; until then it is in flight. It
has one deadline for boot, reset, episode and judging. After that the caller revokes it
(`take_back`): its task is queued for another device, and the device becomes free when the thread
that hangs in it returns (`settle`). A continuation has its own deadline (`renew`); when that
passes, the attempt counts with the ending that it had. Leases that are open when a run has ended
are revoked in the same way (`leave_behind`). The scheduler never blocks and reads no clock for its
decisions: it returns what an episode has to wait for, and its caller (`Collector`) passes the time
and holds a lock around every call.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol, TypeVar

from distrl.devices.device import Device
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.episode import Work
from distrl.episodes.stage_timer import StageTimer
from distrl.errors import (
    CorruptCheckpoint,
    DeviceError,
    DeviceTimeout,
    InvalidSetting,
    UnknownTask,
    WorldError,
)
from distrl.records import Ending, Task
from distrl.task_sets.curriculum import State, TaskSource

D = TypeVar("D", bound=Device)
BlockedOn = Literal["admission", "device", "task"]


class Admission(Protocol):
    """Decides whether an episode may start with these weights while `in_flight` others are played.

    It is called before every start, under a lock, so it must not block. `Learner` implements it.
    """

    def may_start(self, weight_version: int, in_flight: int) -> bool: ...


@dataclass(slots=True)
class EpisodeBudget:
    """How many episodes may still be started (None: no limit), and whether retries count."""

    starts: int | None = None
    free_retries: bool = True

    @property
    def fresh(self) -> bool:
        """Whether a fresh task may be started."""
        return self.starts is None or self.starts > 0

    def spend(self, assignment: Assignment) -> None:
        if self.starts is not None and (assignment.attempt == 1 or not self.free_retries):
            self.starts -= 1


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task to attempt. `failed_on` names the devices on which earlier attempts failed."""

    task: Task
    attempt: int = 1
    failed_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lease(Generic[D]):
    """A device reserved for one attempt at a task."""

    device: D
    timer: StageTimer[Work]  # of the device
    assignment: Assignment
    episode_id: str
    began: float  # wall-clock time
    deadline: float = math.inf  # by the caller's clock
    ending: Ending | None = None  # of the attempt, once it is delivered

    def expired(self) -> DeviceTimeout:
        what, then = "boot, reset, episode and judging of", "its task goes to another"
        if self.ending is not None:
            what, then = "a continuation of", "what it played of that is dropped"
        return DeviceTimeout(
            f"device {self.device.name}: {what} {self.episode_id} took longer than "
            f"collection.episode_seconds; the device was taken back, and {then}"
        )


class EpisodeScheduler(Generic[D]):
    """Leases devices of a pool for tasks of a source. Episode ids begin with `name`."""

    def __init__(
        self,
        name: str,
        device_pool: DevicePool[D],
        source: TaskSource,
        admission: Admission | None = None,
        max_attempts: int = 3,
        episode_seconds: float = math.inf,
    ) -> None:
        if max_attempts < 1:
            raise InvalidSetting(f"max_attempts={max_attempts!r}; give 1 or more")
        self.device_pool = device_pool
        self.started = 0
        self.in_flight = 0
        self.retried = 0  # attempts that were followed by another one
        self.given_up = 0  # tasks whose attempts all ended without a verdict
        self._name = name
        self._source = source
        self._admission = admission
        self._max_attempts = max_attempts
        self._episode_seconds = episode_seconds
        self._queued: list[Assignment] = []
        self._leased: dict[str, Lease[D]] = {}  # leases not returned yet, by episode
        self._out: dict[str, Lease[D]] = {}  # leases that may be revoked, oldest first
        self._hung = 0  # devices of revoked leases that are not free again

    def lease(self, budget: EpisodeBudget, weight_version: int, now: float) -> Lease[D] | BlockedOn:
        """Reserve a ready device for the next task, or return what an episode has to wait for."""
        if self.nothing_left(budget):
            return "task"
        if self._admission and not self._admission.may_start(weight_version, self.in_flight):
            return "admission"
        if self.in_flight >= self.device_pool.slots:
            return "device"
        ready = self.device_pool.ready(now)
        if not ready:
            return "device"
        choice = self._choose(ready, fresh=budget.fresh)
        if choice is None:
            return "task"
        assignment, device = choice
        budget.spend(assignment)
        self.in_flight += 1
        self.started += 1
        episode_id = f"{self._name}/{self.started}/{assignment.task.id}"
        taken, deadline = self.device_pool.take(device), now + self._episode_seconds
        lease = Lease(*taken, assignment, episode_id, time.time(), deadline)
        self._out[episode_id] = self._leased[episode_id] = lease
        return lease

    def leases(self, budget: EpisodeBudget, weight_version: int, now: float) -> list[Lease[D]]:
        """Reserve devices for all episodes that may start."""
        leases = []
        while isinstance(lease := self.lease(budget, weight_version, now), Lease):
            leases.append(lease)
        return leases

    def take_back(self, now: float) -> list[Lease[D]]:
        """Revoke the leases whose deadline has passed, and queue their tasks for other devices."""
        late = []
        for lease in list(self._out.values()):
            if lease.deadline > now:
                break  # all get the same time, so the deadlines are in order
            self._out.pop(lease.episode_id)
            if self._leased.pop(lease.episode_id, None) is None:
                continue  # it was left behind: its device already counts as hanging
            late.append(lease)
            if lease.ending is None:
                self._retry(lease)
            else:
                self._hear(lease, lease.ending)
            self.in_flight -= 1
            self._hung += 1
        return late

    def renew(self, lease: Lease[D], ending: Ending, now: float) -> None:
        """Give a settled lease a new deadline, for a continuation of an attempt that has ended."""
        deadline = now + self._episode_seconds
        self._out[lease.episode_id] = replace(lease, deadline=deadline, ending=ending)

    def delivered(self, lease: Lease[D], ending: Ending) -> None:
        """Note that the sink has the attempt, so that its task need not be played again."""
        known = self._leased.get(lease.episode_id)
        if known is not None and known.ending is None:  # not the ending of a continuation
            self._leased[lease.episode_id] = replace(lease, ending=ending)

    def leave_behind(self) -> None:
        """Revoke the leases that are open at the end of a run; queue tasks that were not delivered.

        Their devices become free when the threads that use them return.
        """
        for lease in self._leased.values():
            if lease.ending is None:
                self._queued.append(lease.assignment)
            else:
                self._hear(lease, lease.ending)
            self.in_flight -= 1
            self._hung += 1
        self._leased.clear()
        self._out.clear()

    @property
    def all_hang(self) -> bool:
        """Whether the leases of all devices were revoked and their threads still hang."""
        return self._hung >= len(self.device_pool)

    def is_out(self, lease: Lease[D]) -> bool:
        """Return False once the lease was revoked or settled. Thread-safe."""
        return lease.episode_id in self._out

    def settle(self, lease: Lease[D], now: float) -> bool:
        """Protect a lease from being revoked while it is returned; return False if it was revoked.

        In that case this frees its device, and the caller must not return the lease.
        """
        if self._out.pop(lease.episode_id, None) is not None:
            return True
        self._hung -= 1
        self.device_pool.give_back(lease.device.name, now, fault=True)
        return False

    def nothing_left(self, budget: EpisodeBudget) -> bool:
        return not budget.fresh and not self._queued

    def _choose(self, ready: list[str], *, fresh: bool) -> tuple[Assignment, str] | None:
        """Return the first queued task that a ready device may play, or else a fresh one."""
        for place, assignment in enumerate(self._queued):
            tried_all = len(assignment.failed_on) >= len(self.device_pool)
            for device in ready:
                if tried_all or device not in assignment.failed_on:
                    return self._queued.pop(place), device
        return (Assignment(self._source.next_task()), ready[0]) if fresh else None

    def ended(self, lease: Lease[D], ending: Ending, now: float) -> None:
        """Return a lease whose episode was played; without a verdict its task is queued again."""
        if lease.episode_id in self._leased:
            self._hear(lease, ending)
        lost = ending is Ending.DEVICE_LOST
        self._return(lease, now, fault=None if ending.broken and not lost else lost)

    def failed_to_start(self, lease: Lease[D], error: WorldError, now: float) -> None:
        """Return a lease whose episode had no first screen."""
        if lease.episode_id in self._leased:
            self._retry(lease)
        self._return(lease, now, fault=True if isinstance(error, DeviceError) else None)

    def abandoned(self, lease: Lease[D], now: float) -> None:
        """Return a lease whose episode was cut short by a stop; its task is queued unchanged."""
        if lease.episode_id in self._leased:
            self._queued.append(lease.assignment)
        self._return(lease, now, fault=None)

    def _hear(self, lease: Lease[D], ending: Ending) -> None:
        """Report an ending to the source; queue the next attempt if there is no verdict."""
        self._source.hear(lease.assignment.task, ending)
        if ending.broken:
            self._retry(lease)

    def _retry(self, lease: Lease[D]) -> None:
        """Queue the next attempt, unless this was the last one."""
        tried = lease.assignment
        if tried.attempt >= self._max_attempts:
            self.given_up += 1
            return
        self.retried += 1
        failed_on = tuple(dict.fromkeys((*tried.failed_on, lease.device.name)))
        self._queued.append(replace(tried, attempt=tried.attempt + 1, failed_on=failed_on))

    def _return(self, lease: Lease[D], now: float, *, fault: bool | None) -> None:
        self._out.pop(lease.episode_id, None)
        if self._leased.pop(lease.episode_id, None) is None:  # it was left behind, and returns now
            self._hung -= 1
        else:
            self.in_flight -= 1
        self.device_pool.give_back(lease.device.name, now, fault=fault)

    def state(self) -> State:
        queued = [[each.task.id, each.attempt, list(each.failed_on)] for each in self._queued]
        return {
            "started": self.started,
            "tasks": {"source": self._source.state(), "waiting": queued},
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        try:
            started, tasks = state["started"], state["tasks"]
            if not isinstance(started, int) or started < 0:
                raise ValueError(f"started={started!r}")
            queued = [
                Assignment(self._source.find(str(task)), int(attempt), tuple(map(str, failed_on)))
                for task, attempt, failed_on in tasks["waiting"]
            ]
            source = tasks["source"]
        except (KeyError, TypeError, ValueError, AttributeError, UnknownTask) as error:
            raise CorruptCheckpoint(
                f"this is no state of a collector ({type(error).__name__}: {error}); take an "
                "older checkpoint"
            ) from error
        self._source.load_state(source)
        self._queued, self.started = queued, started
