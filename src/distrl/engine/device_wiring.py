"""From settings to the devices of one collector, and to a judge for each.

simulated       in this process; judged by facts
adb             what `adb devices` lists; a handset is guarded and needs its owner's consent
emulator        our own emulators, from a pool that restarts them and keeps spares booted
android_world   AndroidWorld's containers, which judge as well
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from distrl.config.sections import DeviceSettings
from distrl.config.task_section import AndroidWorldSettings
from distrl.config.training_config import TrainingConfig
from distrl.devices.adb.adb_device import AdbDeviceSettings
from distrl.devices.adb.android_phones import choose_serials, emulator_pool, open_phone
from distrl.devices.adb.android_tools import find_tool, running_server
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.devices.device import Device
from distrl.devices.emulator.emulated_device import EmulatedDevice
from distrl.devices.emulator.process_watch import ProcessWatch
from distrl.devices.safety.safety import SafeDevice
from distrl.episodes.device_pool import DevicePool, HealthSettings
from distrl.errors import InvalidSetting, NotInstalled
from distrl.judging.judge import DeferredJudge, Judge
from distrl.task_sets.android_world import AndroidWorldJudge, AndroidWorldPhone
from phonesim import latency
from phonesim.clock import Clock, RealClock, ScaledClock, VirtualClock
from phonesim.latency import Latency
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

if TYPE_CHECKING:
    from distrl.task_sets.android_world_container import AndroidWorldContainer

LATENCIES: dict[str, Latency] = {
    "none": latency.NONE,
    "paper_emulator": latency.PAPER_EMULATOR,
    "snapshot_emulator": latency.SNAPSHOT_EMULATOR,
    "event_driven": latency.EVENT_DRIVEN,
}


def build_device_pool(
    config: TrainingConfig, number: int, opened: ExitStack, logs: Path
) -> DevicePool[Device]:
    """This collector's share of devices and spares; `opened` closes what is started."""
    settings, collectors = config.devices, config.collection.collectors
    mine = range(number, settings.count, collectors)
    spares = range(number, settings.spares, collectors)
    names = {f"phone-{n}": n for n in mine}
    health = HealthSettings(quarantine_after=settings.quarantine_after)
    if settings.kind == "emulator":  # its pool keeps the spares
        return DevicePool(build_emulators(settings, names, len(spares), opened, logs), (), health)
    names |= {f"spare-{n}": settings.count + n for n in spares}
    devices: Sequence[Device]
    if settings.kind == "adb":
        devices = build_adb_devices(settings, names, facts=config.tasks.source == "simulated")
    elif settings.kind == "android_world":
        devices = build_android_world(config.tasks.android_world, names)
    else:
        devices = [build_device(settings, name) for name in names]
    return DevicePool(devices[: len(mine)], devices[len(mine) :], health)


def build_judges(config: TrainingConfig) -> Callable[[Device], Judge]:
    """A judge for each episode: prepares the task, and judges it unless that is deferred."""
    simulated = config.tasks.source == "simulated"

    def on_the_phone(device: Device) -> Judge | None:
        if simulated and isinstance(device, SimulatedDevice | SimulatedAdbDevice):
            return FactJudge(device)
        return AndroidWorldJudge(device) if isinstance(device, AndroidWorldPhone) else None

    def judge_for(device: Device) -> Judge:
        judge = on_the_phone(device)
        return DeferredJudge(judge) if config.judge.later or judge is None else judge

    return judge_for


def check_phones(config: TrainingConfig) -> None:
    """Raise what is wrong with the devices before anything is spent. Nothing is reset."""
    settings = config.devices
    if settings.kind == "adb":
        places = {f"phone-{n}": n for n in range(settings.count + settings.spares)}
        facts = config.tasks.source == "simulated"
        for device in build_adb_devices(settings, places, facts=facts):
            if isinstance(device, SafeDevice):
                device.consent()  # raises, and says what the owner has to write where
            device.close()
    elif settings.kind == "emulator":
        find_tool("emulator")
        running_server(settings.android.adb_port)
    elif settings.kind == "android_world":
        for url in config.tasks.android_world.urls[: settings.count + settings.spares]:
            _container(config.tasks.android_world, url).close()


# Of each kind ------------------------------------------------------------------------------------


def build_adb_devices(
    settings: DeviceSettings, names: dict[str, int], *, facts: bool
) -> list[Device]:
    """Devices by their places among the serials. `facts`: their tasks are judged by facts."""
    server = running_server(settings.android.adb_port)
    serials = choose_serials(server, settings.serials, settings.count + settings.spares)
    devices: list[Device] = []
    for name, place in names.items():
        device = open_phone(name, serials[place], server, settings.android)
        if facts and not isinstance(device, SimulatedAdbDevice):
            raise InvalidSetting(
                f"devices.kind='adb' with {serials[place]}, which is no served simulated phone: "
                "tasks.source='simulated' are facts on one, and `distrl phone serve` starts them; "
                "on other phones give tasks.source='aitw' and judge.kind='vlm'"
            )
        devices.append(device)
    return devices


def build_emulators(
    settings: DeviceSettings, names: dict[str, int], spares: int, opened: ExitStack, logs: Path
) -> list[Device]:
    android = settings.android
    if android.guard_all:
        raise InvalidSetting(
            "devices.android.guard_all=True with devices.kind='emulator'; an emulator of ours is "
            "nobody's phone and starts anew from its snapshot: leave it out"
        )
    watch = opened.enter_context(ProcessWatch())
    pool = opened.enter_context(
        emulator_pool(
            running_server(android.adb_port), android, len(names), spares, logs, watch=watch
        )
    )
    phone = AdbDeviceSettings(stillness=android.stillness, app_names=android.app_names)
    patience = android.emulator.boot_seconds + android.emulator.snapshot_seconds
    return [EmulatedDevice(name, pool, phone, take_seconds=patience) for name in names]


def build_android_world(settings: AndroidWorldSettings, names: dict[str, int]) -> list[Device]:
    """Every container gets the same suite, so that any task can be played on any of them."""
    phones: list[Device] = []
    for name, place in names.items():
        container = _container(settings, settings.urls[place])
        container.new_suite(settings.suite_seed, settings.combinations)
        phones.append(AndroidWorldPhone(name, container))
    return phones


def _container(settings: AndroidWorldSettings, url: str) -> AndroidWorldContainer:
    try:
        from distrl.task_sets.android_world_container import (
            AndroidWorldContainer,
            ContainerSettings,
        )
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; AndroidWorld's container needs "
            "pip install 'distrl[served]'"
        ) from error
    return AndroidWorldContainer.open(
        ContainerSettings(url, settings.deadline_seconds, settings.set_up_seconds)
    )


def build_device(settings: DeviceSettings, name: str) -> SimulatedDevice:
    return SimulatedDevice(
        name, settings.drift, LATENCIES[settings.latency], settings.faults, build_clock(settings)
    )


def build_clock(settings: DeviceSettings) -> Clock:
    if settings.clock == "virtual":
        return VirtualClock()
    return RealClock() if settings.clock == "real" else ScaledClock(settings.clock_speed)
