"""From settings to parts: every edge of the circle, in functions that read like lists.

    tasks ─┐
    phones ┼─► collector ─► sink … arrivals ─► learner ─► weights ─► collector
    policy ┘

All engines build the same parts here. What differs between them is what lies between sink and
arrivals: nothing but a store (one process), or processes and connections.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from distrl.agent.loading import open_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.sections import DeviceSettings
from distrl.config.training_config import LearningSettings, TrainingConfig
from distrl.devices.android_phones import choose_serials, open_phone
from distrl.devices.android_tools import running_server
from distrl.devices.judged_phone import JudgedPhone
from distrl.devices.simulated import latency
from distrl.devices.simulated.clock import Clock, RealClock, ScaledClock, VirtualClock
from distrl.devices.simulated.latency import Latency
from distrl.devices.simulated.simulated_device import SimulatedDevice
from distrl.devices.simulated_adb_device import SimulatedAdbDevice
from distrl.engine.weight_poll import WeightPoll
from distrl.episodes.collector import Collector, CollectorSettings, TrajectorySink
from distrl.episodes.curriculum import (
    InstructionValueTasks,
    RepeatedTasks,
    SuccessRateTasks,
    TaskPool,
    TaskSource,
    UniformTasks,
)
from distrl.episodes.decision_desk import DecisionDesk, DeskSettings
from distrl.episodes.device_shelf import DeviceShelf, HealthSettings
from distrl.episodes.rota import Admission
from distrl.episodes.weight_renewal import WeightRenewal
from distrl.errors import InvalidSetting
from distrl.learning.a_ride import ARide
from distrl.learning.algorithm import Algorithm
from distrl.learning.digirl import Digirl
from distrl.learning.filtered_bc import FilteredBc
from distrl.learning.gradient_step import GradientStep
from distrl.learning.group_relative import GroupRelative
from distrl.learning.impala import Impala
from distrl.learning.learner import Arrivals, Learner
from distrl.learning.ppo import Ppo
from distrl.replay.pacing import Pacing
from distrl.replay.replay_buffer import ReplayBuffer
from distrl.tasks.judge import FactJudge
from distrl.weights.weight_store import WeightDescription, WeightStore

ALGORITHMS: dict[str, Callable[[GradientStep, LearningSettings], Algorithm]] = {
    "a_ride": lambda step, settings: ARide(step, settings.a_ride),
    "digirl": lambda step, settings: Digirl(step, settings.digirl),
    "filtered_bc": lambda step, settings: FilteredBc(step, settings.filtered_bc),
    "impala": lambda step, settings: Impala(step, settings.impala),
    "ppo": lambda step, settings: Ppo(step, settings.ppo),
    "group_relative": lambda step, settings: GroupRelative(step, settings.group_relative),
}
LATENCIES: dict[str, Latency] = {
    "none": latency.NONE,
    "paper_emulator": latency.PAPER_EMULATOR,
    "snapshot_emulator": latency.SNAPSHOT_EMULATOR,
    "event_driven": latency.EVENT_DRIVEN,
}


def build_learner(
    config: TrainingConfig, policy: VlmPolicy, arrivals: Arrivals, weights: WeightStore
) -> Learner:
    """The edges arrivals ─► learner ─► weights."""
    step = GradientStep(policy, config.learning.step)
    return Learner(
        policy=policy,
        algorithm=ALGORITHMS[config.learning.algorithm](step, config.learning),
        gradient_step=step,
        replay=ReplayBuffer(config.replay),
        pacing=build_pacing(config),
        arrivals=arrivals,
        publisher=weights,
        settings=config.learning.learner,
    )


def build_collector(
    config: TrainingConfig,
    name: str,
    number: int,  # which of the run's collectors, counted from 0
    *,
    sink: TrajectorySink,
    weights: WeightStore,
    admission: Admission,
) -> Collector[JudgedPhone]:
    """The edges tasks, phones, policy ─► collector ─► sink, and weights ─► collector."""
    policy = build_policy(config)
    policy.seed(f"{config.run.seed}/{name}")
    desk = DecisionDesk(
        policy, build_desk_settings(config), WeightRenewal(policy, WeightPoll(weights))
    )
    return Collector(
        name=name,
        desk=desk,
        shelf=build_shelf(config, number),
        source=build_tasks(config, number, policy, desk),
        sink=sink,
        judge_for=FactJudge,
        admission=admission,
        settings=CollectorSettings(stop_on_success=config.collection.stop_on_success),
    )


def build_policy(config: TrainingConfig) -> VlmPolicy:
    adapter = Path(config.agent.adapter) if config.agent.adapter else None
    return open_policy(config.agent.model, config.agent.policy, adapter=adapter)


def build_weight_store(config: TrainingConfig, directory: Path) -> WeightStore:
    if config.agent.policy.lora is None and not config.agent.adapter:
        return WeightStore(directory)
    return WeightStore(directory, description=WeightDescription("adapters", config.agent.model))


def build_pacing(config: TrainingConfig) -> Pacing:
    """Where learner and collectors take turns, each goes as far as the other has paid for."""
    pacing = config.pacing.new()
    if config.collection.mode == "asynchronous":
        return pacing
    batch = config.learning.learner.batch_trajectories
    tight = (batch + pacing.samples_per_insert) / 2
    return Pacing(
        pacing.samples_per_insert, pacing.minimum_fill, min(max(tight, 0.5), pacing.tolerance)
    )


def build_desk_settings(config: TrainingConfig) -> DeskSettings:
    in_turns = config.collection.mode != "asynchronous"
    return DeskSettings(
        linger_seconds=config.collection.batch_wait_milliseconds / 1000.0,
        swap="between_episodes" if in_turns else "between_decisions",
    )


def build_tasks(
    config: TrainingConfig, number: int, policy: VlmPolicy, desk: DecisionDesk
) -> TaskSource:
    pool = TaskPool(
        templates=config.tasks.template_names,
        split=config.tasks.split,
        seed=config.run.seed,
        share=number,
        shares=config.collection.collectors,
    )
    source: TaskSource
    if config.tasks.curriculum == "success_rate":
        source = SuccessRateTasks(pool)
    elif config.tasks.curriculum == "instruction_value":
        source = InstructionValueTasks(pool, policy, desk.policy_lock)
    else:
        source = UniformTasks(pool)
    together = config.learning.learner.attempts_together
    return RepeatedTasks(source, together) if together > 1 else source


# Phones ------------------------------------------------------------------------------------------


def build_shelf(config: TrainingConfig, number: int) -> DeviceShelf[JudgedPhone]:
    """This collector's share of the phones and of the spares."""
    settings = config.devices
    mine = range(number, settings.count, config.collection.collectors)
    spares = range(number, settings.spares, config.collection.collectors)
    names = {f"phone-{n}": n for n in mine} | {f"spare-{n}": settings.count + n for n in spares}
    if settings.kind == "adb":
        devices = build_adb_devices(settings, names)
    else:
        devices = [build_device(settings, name) for name in names]
    health = HealthSettings(quarantine_after=settings.quarantine_after)
    return DeviceShelf(devices[: len(mine)], devices[len(mine) :], health)


def build_adb_devices(settings: DeviceSettings, names: dict[str, int]) -> list[JudgedPhone]:
    """Phones by their places among the serials. Facts to judge by are on simulated ones alone."""
    server = running_server(settings.android.adb_port)
    serials = choose_serials(server, settings.serials, settings.count + settings.spares)
    devices: list[JudgedPhone] = []
    for name, place in names.items():
        device = open_phone(name, serials[place], server, settings.android)
        if not isinstance(device, SimulatedAdbDevice):
            raise InvalidSetting(
                f"devices.kind='adb' with {serials[place]}, which is no served simulated phone: "
                "these tasks are judged by the facts of one; `distrl phone serve` starts them"
            )
        devices.append(device)
    return devices


def build_device(settings: DeviceSettings, name: str) -> JudgedPhone:
    return SimulatedDevice(
        name, settings.drift, LATENCIES[settings.latency], settings.faults, build_clock(settings)
    )


def build_clock(settings: DeviceSettings) -> Clock:
    if settings.clock == "virtual":
        return VirtualClock()
    return RealClock() if settings.clock == "real" else ScaledClock(settings.clock_speed)
