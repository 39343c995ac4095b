"""Measure the cost and the scaling of a cluster (`make bench-cluster`).

Everything runs on real Ray nodes (raylets) on this machine, with simulated phones that wait as the
paper's emulators do, on a scaled clock.

    ray_over_local    trajectories per minute of a run by the Ray engine over those of the same run
                      by the local engine: the same settings, our small model, the same phones;
                      two of each in turns, and the lowest and highest ratio of a pair
    efficiency_N      device seconds of the trajectories that N phones delivered, over all device
                      seconds: 1 if no phone ever waited for anything and nothing was lost on the
                      way. 32 phones on a node: 32, 64, 128, 256 on 1, 2, 4, 8 nodes
    device_busy_256   share of the time that 256 phones on 8 nodes were at work, by their collectors
    broadcast_s       from the end of publishing (weights are on the learner's disk and in its
                      object store) until the last of 32 collectors on 8 nodes has received and
                      checked them; `broadcast_mb` is their size: the adapters of a 3B model (rank
                      16 on every linear layer, bf16)
    broadcast_from_publish_s   the same from the learner's call of `publish` on, which adds writing,
                      waiting for the disk and offering. Neither includes the time until a
                      collector hears of the offer (a heartbeat), nor until its policy has loaded
                      the tensors
    broadcast_ray_alone_s      as many bytes by `ray.get` alone, in turns with it. Of all three keys
                      the best of three: the nodes share one machine
    policy_per_node_… one policy for all collectors of a node against one for each
                      (`node_policy`): `speed` and `memory`, both as a ratio

For many phones, the policy answers at once and ends its episodes as the paper's does
(`async_collection`); collector, sender, registry, store and Ray are those of every run. The paper's
own curve reaches 53 % of its ideal at 192 vCPU. `--quick` is a smoke test and writes nothing;
`--broadcast` measures only that part.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.async_collection import QuickPolicy
from benchmarks.node_policy import measure_node_policy
from benchmarks.ray_nodes import ray_nodes
from benchmarks.results_file import update_results, write_results
from benchmarks.two_engines import compare_engines
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Heartbeat, Pace, Received, Refused
from distrl.engine.ray.learner_actor import RemoteCollectors
from distrl.engine.run.collection import AsynchronousCollection
from distrl.engine.supervision.collector_registry import (
    CollectorInfo,
    CollectorRegistry,
    HeartbeatReply,
    Registration,
)
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings
from distrl.episodes.scheduler import Admission
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.json_lines import LineLog
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings
from distrl.runs.run_directory import RunDirectory
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from distrl.weights.weight_store import WeightSource, WeightStore
from phonesim.clock import ScaledClock
from phonesim.latency import PAPER_EMULATOR
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import template_names

PHONES_PER_NODE = 32
SIZES = (1, 2, 4, 8)  # nodes
SPEED = 4.0  # device seconds per real second: two cores draw the screens of 256 phones
WARM_UP, SECONDS = 45.0, 60.0  # real ones: until phones are out of step; then counted
READERS_PER_NODE, ADAPTER_MB = 4, 74.0
PAPER_EFFICIENCY = 0.53
GROUPS = {"measure": 1, "deliver": 16, "talk": 8}


# Many phones --------------------------------------------------------------------------------------


class BenchBuild:
    """Builds a collector with many phones and a policy that takes no time."""

    def __init__(self, phones: int) -> None:
        self._phones = phones

    def __call__(
        self,
        info: CollectorInfo,
        sink: TrajectorySink,
        weights: WeightSource,
        admission: Admission,
        opened: ExitStack,
    ) -> Collector[Any]:
        devices = [
            SimulatedDevice(
                f"phone-{info.number}-{n}", latency=PAPER_EMULATOR, clock=ScaledClock(SPEED)
            )
            for n in range(self._phones)
        ]
        tasks = SimulatedTasks(
            tuple(template_names("train", "general")), share=info.number, shares=64
        )
        return Collector(
            name=info.name,
            batcher=PolicyBatcher(QuickPolicy(), PolicyBatcherSettings(max_wait_seconds=0.0)),
            device_pool=DevicePool(devices),
            source=UniformTasks(tasks),
            sink=sink,
            judge_for=FactJudge,
            admission=admission,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """The result for one number of phones."""

    efficiency: float
    device_busy: float
    trajectories: int


class CountingLearner:
    """Stores and counts trajectories durably, as every learner does, without training."""

    def __init__(self, folder: str, collectors: int) -> None:
        self._run = RunDirectory(Path(folder))
        self._collectors = collectors
        self._arrivals = ArrivalQueue()
        self._deliveries = RemoteCollectors()
        self._registry: CollectorRegistry | None = None
        self._ready = threading.Event()

    def measure(self, phones: int, warm_up: float, seconds: float) -> Measured:
        settings = TrajectoryStoreSettings(byte_limit=8 << 30)
        with (
            TrajectoryStore(self._run.trajectories, settings) as store,
            LineLog.open(self._run.episodes) as log,
        ):
            episode_log = EpisodeLog(log, time.monotonic)
            receiver = TrajectoryReceiver(store, self._arrivals, episode_log)
            registry = self._open(episode_log)
            collection = AsynchronousCollection(
                registry, self._deliveries, receiver, self._arrivals
            )
            collection.start()
            while len(registry.reports()) < self._collectors:
                time.sleep(0.1)
            self._drain(warm_up)
            before = self._use()
            device_seconds, count = self._drain(seconds)
            after = self._use()
            collection.stop(0.0)
        busy = (after[0] - before[0]) / (after[1] - before[1])
        return Measured(device_seconds / (phones * seconds * SPEED), busy, count)

    def _open(self, episode_log: EpisodeLog) -> CollectorRegistry:
        self._registry = CollectorRegistry(
            count=self._collectors,
            restarts=0,
            silent_seconds=60.0,
            run=self._run,
            episode_log=episode_log,
            waiting=self._arrivals.__len__,
            say=lambda sentence: None,
            wake=self._arrivals.wake,
        )
        self._registry.set_pace(Pace(version=0, free=True))
        self._ready.set()
        return self._registry

    def _drain(self, seconds: float) -> tuple[float, int]:
        """Take arrivals for so many real seconds; return their device seconds and their number."""
        total, count, until = 0.0, 0, time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0.0:
            self._arrivals.wait(left)
            while len(self._arrivals):
                total += self._arrivals.popleft().device_seconds
                count += 1
        return total, count

    def _use(self) -> tuple[float, float]:
        """Return the seconds that phones were at work, and all their seconds."""
        assert self._registry is not None
        time.sleep(2.5)  # until every collector has sent a report
        seconds = self._registry.phone_seconds()
        return seconds.get("reset", 0.0) + seconds.get("act", 0.0), sum(seconds.values())

    def _when_ready(self) -> CollectorRegistry:
        self._ready.wait()
        assert self._registry is not None
        return self._registry

    def register(self, number: int, place: str) -> Registration:
        return self._when_ready().register(number, place)

    def deliver(self, encoded: bytes) -> Received | Refused:
        return self._deliveries.deliver(encoded)

    def heartbeat(
        self, info: CollectorInfo, in_flight: int, full: Heartbeat | None, version: int
    ) -> tuple[HeartbeatReply, None]:
        return self._when_ready().heartbeat(info, in_flight, full), None

    def deregister(self, info: CollectorInfo, last: Heartbeat) -> None:
        self._when_ready().deregister(info, last)


def counting_learner() -> Any:
    """Return the Ray actor class of `CountingLearner`."""
    import ray

    for name, group in {
        "measure": "measure", "deliver": "deliver", "register": "talk",
        "heartbeat": "talk", "deregister": "talk",
    }.items():  # fmt: skip
        ray.method(concurrency_group=group)(getattr(CountingLearner, name))
    remote: Any = ray.remote
    return remote(concurrency_groups=GROUPS)(CountingLearner).options(num_cpus=0)


def measure_phones(nodes: int, phones: int, warm_up: float, seconds: float) -> Measured:
    """Measure phones on so many nodes, with one collector and `phones` phones on each."""
    with ray_nodes(nodes, phones), tempfile.TemporaryDirectory() as folder:
        import ray

        from distrl.engine.ray.collector_actor import collector_actor

        learner = counting_learner().remote(folder, nodes)
        build = BenchBuild(phones)
        actors = [
            collector_actor(num_cpus=0, resources={"phone": phones}).remote(
                learner, number, build, 0.25, 2.0
            )
            for number in range(nodes)
        ]
        playing = [actor.play.remote() for actor in actors]
        measured: Measured = ray.get(learner.measure.remote(nodes * phones, warm_up, seconds))
        ray.get(playing, timeout=60.0)
        return measured


# Weights to everybody -----------------------------------------------------------------------------


class Reader:
    """The part of a collector that receives weights: it keeps the newest, as its receiver does."""

    def __init__(self) -> None:
        from distrl.engine.ray.weight_broadcast import WeightReceiver

        self._receiver = WeightReceiver()

    def fetch(self, offer: Any) -> int:
        self._receiver.fetch(offer)
        found = self._receiver.newer_than(-1)
        assert found is not None
        for tensor in found[0].values():
            tensor.flatten()[:1].item()  # read it, to be sure that it has arrived
        return self._receiver.version

    def fetch_bytes(self, content: tuple[Any]) -> int:
        import ray

        return int(ray.get(content[0])[-1])

    def close(self) -> None:
        self._receiver.close()


class Publishing:
    """The part of a learner that publishes weights."""

    def __init__(self, folder: str, megabytes: float) -> None:
        self._store = WeightStore(Path(folder), framework="np")
        self._megabytes = megabytes

    def publish(self, version: int) -> tuple[Any, float]:
        """Publish; return the offer and the start of publishing by this machine's clock."""
        from distrl.engine.ray.weight_broadcast import WeightBroadcast

        rng = np.random.default_rng(version)
        count = 64
        size = int(self._megabytes * 1e6 / 2 / count)
        weights: dict[str, Any] = {
            f"layer-{n}": rng.standard_normal(size).astype(np.float16) for n in range(count)
        }
        self._broadcast = WeightBroadcast(self._store)
        begun = time.monotonic()
        self._broadcast.publish(weights, version)
        return self._broadcast.newer_than(version - 1), begun

    def put_bytes(self, version: int) -> tuple[Any]:
        import ray

        rng = np.random.default_rng(version)
        return (ray.put(rng.integers(0, 256, int(self._megabytes * 1e6), np.uint8)),)


def measure_broadcast(nodes: int, megabytes: float) -> tuple[float, float, float]:
    """Return seconds until the last reader has the weights, after publishing and from `publish` on;
    and for as many bytes by `ray.get` alone. Each is the best of three, in turns, after a warm-up.
    """
    with ray_nodes(nodes, READERS_PER_NODE), tempfile.TemporaryDirectory() as folder:
        import ray

        remote: Any = ray.remote
        learner = remote(Publishing).options(num_cpus=0).remote(folder, megabytes)
        readers = [
            remote(Reader).options(num_cpus=0, resources={"phone": 1}).remote()
            for _ in range(nodes * READERS_PER_NODE)
        ]
        times = []
        for version in range(4):
            offer, begun = ray.get(learner.publish.remote(version))
            published = time.monotonic()
            versions = ray.get([reader.fetch.remote(offer) for reader in readers])
            all_have = time.monotonic()
            content = ray.get(learner.put_bytes.remote(version))
            put = time.monotonic()
            ray.get([reader.fetch_bytes.remote(content) for reader in readers])
            times.append((all_have - published, all_have - begun, time.monotonic() - put))
            if set(versions) != {version}:
                raise SystemExit(f"version {version} came as {sorted(set(versions))}")
        ray.get([reader.close.remote() for reader in readers])
        after, whole, alone = (min(each) for each in zip(*times[1:], strict=True))
        return after, whole, alone


def broadcast(*, quick: bool) -> dict[str, float]:
    nodes, megabytes = (2, 8.0) if quick else (SIZES[-1], ADAPTER_MB)
    after, whole, alone = measure_broadcast(nodes, megabytes)
    return {
        "broadcast_mb": megabytes,
        "broadcast_collectors": float(nodes * READERS_PER_NODE),
        "broadcast_s": after,
        "broadcast_from_publish_s": whole,
        "broadcast_ray_alone_s": alone,
    }


# What it comes to ---------------------------------------------------------------------------------


def measure(console: Console, *, quick: bool) -> Iterator[dict[str, float]]:
    """Measure one part after the other, so that a later failure keeps the earlier figures."""
    warm_up, seconds = (6.0, 10.0) if quick else (WARM_UP, SECONDS)
    for nodes in SIZES[:2] if quick else SIZES:
        found = measure_phones(nodes, PHONES_PER_NODE, warm_up, seconds)
        phones = nodes * PHONES_PER_NODE
        console.print(f"{phones} phones on {nodes} nodes: {found}", highlight=False)
        yield {f"efficiency_{phones}": found.efficiency, f"device_busy_{phones}": found.device_busy}
    yield {"efficiency_paper_192_vcpu": PAPER_EFFICIENCY, **broadcast(quick=quick)}
    minutes = 0.4 if quick else 2.0
    yield compare_engines(console, minutes, rounds=1 if quick else 2)
    yield measure_node_policy(minutes)


def show(console: Console, figures: dict[str, float]) -> None:
    table = Table("figure", "value", box=None, padding=(0, 2, 0, 0))
    for name, value in figures.items():
        table.add_row(name, f"{value:.3f}")
    console.print(table, highlight=False)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--broadcast", action="store_true")
    chosen = words.parse_args()
    console = Console()
    figures: dict[str, float] = {}
    if chosen.broadcast:
        figures = broadcast(quick=chosen.quick)
        show(console, figures)
        if not chosen.quick:
            update_results("cluster", figures, "broadcast")
        return
    for part in measure(console, quick=chosen.quick):
        figures |= part
        if not chosen.quick:
            write_results("cluster", figures)
    show(console, figures)


if __name__ == "__main__":
    main()
