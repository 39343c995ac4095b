"""What the tests of collectors share: quick policies, sinks, weights, and phones that take time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.records import Action, Decision, Done, Observation, Screen, Trajectory, Wait
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from phonesim.clock import RealClock, ScaledClock
from phonesim.faults import NO_FAULTS, Faults
from phonesim.latency import Latency, LogNormal, ResetLatency
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

POOL = SimulatedTasks(("clock.set_alarm", "notes.create", "todo.add"))
STEP = 0.02  # real seconds that a phone of usual speed takes for an action, and for a reset
SPEED = 50.0


class ManualClock:
    """A clock that stands still until it is advanced; counts how often it was read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0.0
        self.reads = 0

    def __call__(self) -> float:
        with self._lock:
            self.reads += 1
            return self._now

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds

    @property
    def now(self) -> float:
        return self._now


class GatedPhone(SimulatedDevice):
    """A phone whose resets and actions end only when the test lets them, one by one."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.clock = RealClock()  # it blocks
        self._passes = threading.Semaphore(0)
        self.arrived = 0  # calls that have reached the gate
        self.passed = 0  # calls that were let through

    @property
    def at_work(self) -> bool:
        return self.arrived > self.passed

    def let_through(self) -> None:
        self.passed += 1
        self._passes.release()

    def open_gate(self) -> None:
        self._passes.release(1000)

    def _gate(self) -> None:
        self.arrived += 1
        assert self._passes.acquire(timeout=60.0)

    def reset(self, seed: int) -> None:
        self._gate()
        super().reset(seed)

    def perform(self, action: Action) -> Screen:
        self._gate()
        return super().perform(action)


class Broken(SimulatedDevice):
    """A phone with a mistake of ours in it."""

    def perform(self, action: Action) -> Screen:
        raise ZeroDivisionError("a mistake of ours")


class Patient:
    """Waits a few times on every phone, says "done", and remembers who asked, and how many."""

    def __init__(
        self,
        waits: int = 2,
        seconds: float = 0.0,
        compute: Callable[[int], None] = lambda size: None,  # called with the size of each batch
    ) -> None:
        self._waits = waits
        self._seconds = seconds
        self._compute = compute
        self._version = 0
        self.batches: list[int] = []
        self.threads: set[int] = set()
        self.loaded: list[int] = []

    @property
    def weight_version(self) -> int:
        return self._version

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        assert not weights
        self._version = version
        self.loaded.append(version)

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.batches.append(len(observations))
        self.threads.add(threading.get_ident())
        self._compute(len(observations))
        time.sleep(self._seconds)
        return [self._decide(observation) for observation in observations]

    def _decide(self, observation: Observation) -> Decision:
        enough = len(observation.past_actions) >= self._waits
        return Decision(Done() if enough else Wait(0.0), weight_version=self._version)


class ListSink:
    """Keeps trajectories in memory, each id once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.kept: dict[str, Trajectory] = {}
        self.sent: list[str] = []

    def put(self, trajectory: Trajectory) -> bool:
        with self._lock:
            self.sent.append(trajectory.id)
            new = trajectory.id not in self.kept
            self.kept.setdefault(trajectory.id, trajectory)
            return new

    @property
    def all(self) -> list[Trajectory]:
        with self._lock:
            return list(self.kept.values())


class Versions:
    """A `WeightSource` whose newest version is set by hand."""

    def __init__(self) -> None:
        self.newest = 0
        self.asked = 0
        self.given: list[int] = []

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        self.asked += 1
        if self.newest <= version:
            return None
        self.given.append(self.newest)
        return {}, self.newest


def phone(
    name: str, slowness: float = 1.0, faults: Faults = NO_FAULTS, reset: float = 1.0
) -> SimulatedDevice:
    """A phone that takes STEP for an action, times its slowness."""
    seconds = STEP * SPEED * slowness
    latency = Latency(
        reset=ResetLatency(boot=LogNormal(seconds * reset)), action=LogNormal(seconds)
    )
    return SimulatedDevice(name, latency=latency, faults=faults, clock=ScaledClock(SPEED))


def phones(count: int) -> list[SimulatedDevice]:
    return [phone(f"phone-{number}") for number in range(count)]


def collector(
    batcher: PolicyBatcher,
    sink: ListSink,
    devices: Sequence[SimulatedDevice] | DevicePool[SimulatedDevice],
    **others: Any,
) -> Collector[SimulatedDevice]:
    device_pool = devices if isinstance(devices, DevicePool) else DevicePool(devices)
    source = others.pop("source", None) or UniformTasks(POOL)
    return Collector("collector-0", batcher, device_pool, source, sink, FactJudge, **others)


@contextmanager
def running(collector: Collector[SimulatedDevice]) -> Iterator[None]:
    """Run it beside the test, and stop it at the end; what it raised is raised here."""
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(collector.run)
        try:
            yield
        finally:
            collector.stop()
            run.result(30.0)


def wait_until(condition: Callable[[], object], seconds: float = 240.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.005)


class TimedPhone(SimulatedDevice):
    """A phone that takes 2 s for a reset and 3 s for an action, by the test's clock, also for one
    that fails.
    """

    def __init__(self, name: str, clock: ManualClock, **settings: Any) -> None:
        super().__init__(name, **settings)
        self._manual = clock

    def reset(self, seed: int) -> None:
        self._manual.advance(2.0)
        super().reset(seed)

    def perform(self, action: Action) -> Screen:
        self._manual.advance(3.0)
        return super().perform(action)
