"""The settings that no part of the system owns itself: the run, devices, collection, the engine.

Every field has a unit and a range, choices or a meaning, and a default that runs on the simulated
phone. Settings that belong to a part (the replay's, the learner's, an algorithm's) are that part's
own dataclasses; `TrainingConfig` has them as sections.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

from distrl.agent.vlm_settings import VlmSettings
from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.devices.adb.android_settings import AndroidSettings
from distrl.errors import InvalidSetting
from distrl.records import Split
from distrl.replay.buffer.pacing import Pacing
from phonesim.drift import NO_DRIFT, Drift
from phonesim.faults import Faults

DeviceKind = Literal["simulated", "adb", "emulator", "android_world"]
LatencyName = Literal["none", "paper_emulator", "snapshot_emulator", "event_driven"]
ClockKind = Literal["virtual", "scaled", "real"]
CollectionMode = Literal["asynchronous", "synchronous", "one_process"]
EngineKind = Literal["local", "ray"]
PolicyHolder = Literal["collector", "node"]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Where a run lives and when it ends: at the first limit that it reaches."""

    name: Annotated[
        str,
        Meaning("1 to 80 letters, digits, hyphens and underscores", r"[A-Za-z0-9_-]{1,80}"),
    ] = "train"  # of its directory, before the date
    directory: Annotated[str, Meaning("a folder for run directories, such as runs", r"(?s:.+)")] = (
        "runs"
    )
    seed: Annotated[int, Bounds(0, 2**31 - 1, "(seed of everything that is drawn)")] = 0
    minutes: Annotated[float, Bounds(0.01, unit="minutes of training")] = 8.0
    trajectories: Annotated[int | None, Bounds(1, unit="trajectories")] = None
    updates: Annotated[int | None, Bounds(1, unit="updates")] = None
    checkpoint_minutes: Annotated[float, Bounds(0.01, 1e4, "minutes between checkpoints")] = 2.0
    free_gigabytes: Annotated[float, Bounds(0.0, 1e6, "gigabytes left on the disk")] = 1.0

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, slots=True)
class DeviceSettings:
    """The phones. Latency, clock, drift and faults are those of simulated ones.

    adb: what adb lists, handsets among them. emulator: emulators of our own, booted and looked
    after (`devices.android.emulator`). android_world: the containers of `tasks.android_world`.
    """

    kind: DeviceKind = "simulated"
    count: Annotated[int, Bounds(1, 4096, "devices")] = 8
    spares: Annotated[int, Bounds(0, 4096, "devices kept ready for those that fail")] = 0
    serials: Annotated[
        tuple[str, ...], Meaning("of adb devices; empty: all that `adb devices` lists")
    ] = ()
    latency: Annotated[LatencyName, Meaning("how long a simulated phone takes")] = "none"
    clock: Annotated[ClockKind, Meaning("whether its waits are slept")] = "virtual"
    clock_speed: Annotated[float, Bounds(0.001, 1e6, "device seconds per real second")] = 50.0
    drift: Annotated[
        bool, Meaning("simulated phones differ in look, layout, app versions, pop-ups and ads")
    ] = True
    faults: Faults = field(default_factory=Faults)
    android: AndroidSettings = field(default_factory=AndroidSettings)  # of those on adb

    @property
    def phone_drift(self) -> Drift:
        """How simulated phones differ."""
        return Drift() if self.drift else NO_DRIFT

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.serials and self.kind != "adb":
            raise InvalidSetting(
                f"serials={list(self.serials)} with kind={self.kind!r}; only adb devices have them"
            )
        if self.serials and len(self.serials) < self.count + self.spares:
            raise InvalidSetting(
                f"serials={list(self.serials)} for count={self.count} and spares={self.spares}; "
                "name as many as are wanted, or want fewer"
            )


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The model; how it is asked, what of it is trained and where stands under `policy`."""

    model: Annotated[
        str, Meaning("starter, or a directory that holds a model in Hugging Face's format", ".+")
    ] = "starter"
    adapter: Annotated[
        str, Meaning("a directory with a PEFT adapter to continue from; empty: none")
    ] = ""
    policy: VlmSettings = field(default_factory=VlmSettings)

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, slots=True)
class CollectionSettings:
    """Who plays. `one_process` has learner and collector take turns, to debug and to repeat."""

    mode: Annotated[CollectionMode, Meaning("whether episodes wait for updates")] = "asynchronous"
    collectors: Annotated[int, Bounds(1, 1024, "processes")] = 1
    stop_on_success: Annotated[
        bool, Meaning("the judge ends an episode as soon as the task is done")
    ] = False
    heartbeat_seconds: Annotated[float, Bounds(0.1, 3600.0, "seconds between heartbeats")] = 5.0
    restarts: Annotated[int, Bounds(0, 1000, "restarts of a collector")] = 5
    threads: Annotated[int, Bounds(1, 1024, "threads each collector computes with")] = 1

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.mode == "one_process" and self.collectors != 1:
            raise InvalidSetting(
                f"collectors={self.collectors} with mode='one_process'; there is room for 1"
            )


@dataclass(frozen=True, slots=True)
class PacingSettings:
    """How draws and inserts keep in step; see `replay.pacing`."""

    samples_per_insert: Annotated[float, Bounds(0.001, 1e6, "draws per trajectory")] = 4.0
    minimum_fill: Annotated[int, Bounds(1, unit="trajectories before the first update")] = 16
    tolerance: Annotated[float, Bounds(0.5, math.inf, "draws ahead or behind")] = math.inf

    def __post_init__(self) -> None:
        check_bounds(self)
        self.new()

    def new(self) -> Pacing:
        return Pacing(self.samples_per_insert, self.minimum_fill, self.tolerance)


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """How success is measured: on tasks that training never saw."""

    before: Annotated[int, Bounds(0, 10**6, "episodes before training")] = 100
    after: Annotated[int, Bounds(0, 10**6, "episodes after training")] = 100
    every_minutes: Annotated[float | None, Bounds(0.1, 1e5, "minutes between evaluations")] = None
    every_episodes: Annotated[int, Bounds(1, 10**6, "episodes each time")] = 40
    split: Split = "test"
    greedy: Annotated[bool, Meaning("take the likeliest token instead of sampling")] = False

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, slots=True)
class ReportingSettings:
    """What a person gets to see. Metrics go to a file and to TensorBoard in any case."""

    wandb: Annotated[bool, Meaning("send metrics to Weights & Biases as well")] = False
    recordings: Annotated[int, Bounds(0, 100, "episodes in the report")] = 8
    line_seconds: Annotated[float, Bounds(0.1, 3600.0, "seconds between plain lines")] = 15.0

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The engine; all but `kind` is for Ray. A run of the local engine needs none of it."""

    kind: EngineKind = "local"
    address: Annotated[
        str, Meaning("of a Ray cluster: host:port or auto; empty: a private one on this machine")
    ] = ""
    phones: Annotated[
        str,
        Meaning(
            "name of the Ray resource of nodes with phones; auto: phone, or CPUs if none has it",
            r"[A-Za-z][A-Za-z0-9_-]{0,60}",
        ),
    ] = "auto"
    policy: Annotated[
        PolicyHolder, Meaning("which process holds the policy; node: one for all its collectors")
    ] = "collector"
    collector_gpus: Annotated[float, Bounds(0.0, 8.0, "GPUs for each collector's policy")] = 0.0
    server_gpus: Annotated[float, Bounds(0.0, 1.0, "of a GPU for each node's server")] = 1.0
    shared_storage: Annotated[bool, Meaning("run.directory is on a disk that every node sees")] = (
        False
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.policy == "node" and self.collector_gpus:
            raise InvalidSetting(
                f"collector_gpus={self.collector_gpus!r} with policy='node'; collectors have no "
                "policy then: give server_gpus instead"
            )
