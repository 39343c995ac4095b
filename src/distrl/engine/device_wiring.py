"""Build the devices of one collector, and the judge of each episode, from the settings.

`KINDS` has one row for each `devices.kind`:

simulated       simulated phones in this process; the judge reads their facts
adb             the devices that adb lists, leased (`adb_wiring`); a handset is guarded and needs
                its owner's consent
emulator        emulators that we start, from a pool that replaces broken ones by booted spares
android_world   AndroidWorld's containers, which also judge
browser         pages of a headless Chromium (`browser_wiring`)

Any other kind is a plugin (`distrl.plugins`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from distrl import plugins
from distrl.config.sections import DeviceSettings
from distrl.config.training_config import TrainingConfig
from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.adb.android_phones import emulator_pool
from distrl.devices.adb.android_tools import find_tool, running_server
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.device import Device
from distrl.devices.emulator.emulator import avd_screen_size
from distrl.devices.emulator.emulator_pool import EmulatedDevice
from distrl.devices.emulator.process_watch import ProcessWatch
from distrl.devices.safety.safety import SafeDevice
from distrl.engine.adb_wiring import build_phones, check_adb
from distrl.engine.browser_wiring import build_page_judges, build_pages, check_pages
from distrl.episodes.device_pool import DevicePool
from distrl.errors import InvalidPlugin, InvalidSetting, NotInstalled
from distrl.judging.judge import DeferredJudge, DryRunJudge, Judge, PreparedJudge
from distrl.plugin_shape import DEVICE_CALLS
from distrl.records import DRY_RUN_MARK
from distrl.task_sets.android_world import AndroidWorldJudge, AndroidWorldPhone
from phonesim import latency
from phonesim.clock import Clock, RealClock, ScaledClock, VirtualClock
from phonesim.latency import Latency
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

if TYPE_CHECKING:
    from distrl.task_sets.android_world_container import AndroidWorldContainer


Sizes = dict[str, tuple[int, int]]  # phone -> width and height of its screen, where known


@dataclass(frozen=True, slots=True)
class CollectorShare:
    """What `Kind.build` needs to build the devices of one collector."""

    config: TrainingConfig
    names: dict[str, int]  # device name -> its index among all devices of the environment
    spares: int  # how many, for kinds that keep their own; else 0
    opened: ExitStack  # closes what `build` starts
    logs: Path


@dataclass(frozen=True, slots=True)
class Kind:
    """How devices of one kind are built, and checked before a run starts."""

    build: Callable[[CollectorShare], list[Device]]  # one for each name, in that order
    check: Callable[[TrainingConfig, Path], Sizes]  # raises if a device is unusable; resets none
    keeps_spares: bool = False  # the kind has a pool of its own that holds its spares


LATENCIES: dict[str, Latency] = {
    "none": latency.NONE,
    "paper_emulator": latency.PAPER_EMULATOR,
    "snapshot_emulator": latency.SNAPSHOT_EMULATOR,
    "event_driven": latency.EVENT_DRIVEN,
}


def build_device_pool(
    config: TrainingConfig, number: int, opened: ExitStack, logs: Path
) -> DevicePool[Device]:
    """Build the devices and spares of collector `number` of an environment; `opened` closes what
    is started.
    """
    settings, collectors = config.devices, config.collection.collectors
    mine = range(number, settings.count, collectors)
    spares = range(number, settings.spares, collectors)
    names = {config.device_name(n): n for n in mine}
    kind = KINDS.get(settings.kind, REGISTERED)
    if kind.keeps_spares:
        share = CollectorShare(config, names, len(spares), opened, logs)
        return DevicePool(kind.build(share))
    names |= {config.device_name(n, "spare"): settings.count + n for n in spares}
    devices = kind.build(CollectorShare(config, names, 0, opened, logs))
    return DevicePool(devices[: len(mine)], devices[len(mine) :])


def build_judges(config: TrainingConfig) -> Callable[[Device], Judge]:
    """Return a function that makes an episode's judge, which prepares the task and judges it."""
    simulated = config.tasks.source == "simulated"
    own = config.judge.is_registered and not config.judge.later
    judge_page = build_page_judges(config.tasks)

    def judge_on_device(device: Device) -> Judge | None:
        if simulated and isinstance(device, SimulatedDevice | SimulatedAdbDevice):
            return FactJudge(device)
        if isinstance(device, BrowserDevice):
            return judge_page(device)
        return AndroidWorldJudge(device) if isinstance(device, AndroidWorldPhone) else None

    def judge_for(device: Device) -> Judge:
        if isinstance(device, SafeDevice) and device.settings.dry_run:
            return DryRunJudge()
        judge = judge_on_device(device)
        if own:
            registered: Judge = plugins.find("judge", config.judge.kind)(device)
            return PreparedJudge(registered, judge) if judge is not None else registered
        return DeferredJudge(judge) if config.judge.later or judge is None else judge

    return judge_for


DRY_RUN_ENDED = (
    f"{DRY_RUN_MARK}: no phone was touched, nothing was judged or learned; to begin in earnest set "
    "devices.android.safety.dry_run=false"
)


def is_dry(config: TrainingConfig) -> bool:
    """Return whether this is a dry run: no action is carried out, judged or learned from."""
    return all(each.devices.is_dry for each in config.by_environment().values())


def check_phones(config: TrainingConfig, folder: Path) -> Sizes:
    """Raise if a device is unusable, before a run starts in `folder`; return the screen sizes.

    No device is reset.
    """
    return KINDS.get(config.devices.kind, REGISTERED).check(config, folder)


# Simulated ---------------------------------------------------------------------------------------


def build_simulated(share: CollectorShare) -> list[Device]:
    settings = share.config.devices
    latency = LATENCIES[settings.latency]
    return [
        SimulatedDevice(
            name,
            settings.phone_drift,
            latency,
            settings.faults,
            build_clock(settings),
            settings.display,
        )
        for name in share.names
    ]


def check_simulated(config: TrainingConfig, _: Path) -> Sizes:
    display = config.devices.display
    return {"a simulated phone": (display.width, display.height)}


def build_clock(settings: DeviceSettings) -> Clock:
    if settings.clock == "virtual":
        return VirtualClock()
    return RealClock() if settings.clock == "real" else ScaledClock(settings.clock_speed)


# adb ---------------------------------------------------------------------------------------------


def build_adb(share: CollectorShare) -> list[Device]:
    return list(build_phones(share.config, tuple(share.names), share.opened, share.logs.parent))


# Emulators ---------------------------------------------------------------------------------------


def build_emulators(share: CollectorShare) -> list[Device]:
    android = share.config.devices.android
    if android.guard_all or android.safety.dry_run:
        raise InvalidSetting(
            f"devices.android.guard_all={android.guard_all}, safety.dry_run="
            f"{android.safety.dry_run} with devices.kind='emulator'; an emulator of ours is "
            "nobody's phone and starts anew from its snapshot: leave them out"
        )
    watch = share.opened.enter_context(ProcessWatch())
    server = running_server(android.adb_port)
    pool = share.opened.enter_context(
        emulator_pool(server, android, len(share.names), share.spares, share.logs, watch=watch)
    )
    phone = AndroidDeviceSettings(stillness=android.stillness, app_names=android.app_names)
    patience = android.emulator.boot_seconds + android.emulator.snapshot_seconds
    return [EmulatedDevice(name, pool, phone, take_seconds=patience) for name in share.names]


def check_emulators(config: TrainingConfig, _: Path) -> Sizes:
    android = config.devices.android
    find_tool("emulator")
    running_server(android.adb_port)
    size = avd_screen_size(android.emulator.avd)
    return {f"the virtual device {android.emulator.avd}": size} if size else {}


# AndroidWorld ------------------------------------------------------------------------------------


def build_android_world(share: CollectorShare) -> list[Device]:
    """Have every container draw the same suite, so that any task can be played on any of them."""
    settings = share.config.tasks.android_world
    phones: list[Device] = []
    for name, place in share.names.items():
        container = _container(settings.urls[place])
        container.new_suite(settings.suite_seed, settings.combinations)
        phones.append(AndroidWorldPhone(name, container))
    return phones


def check_android_world(config: TrainingConfig, _: Path) -> Sizes:
    devices, settings = config.devices, config.tasks.android_world
    sizes: Sizes = {}
    for url in settings.urls[: devices.count + devices.spares]:
        with closing(_container(url)) as container:
            height, width, _ = container.pixels().shape
            sizes[url] = width, height
    return sizes


def _container(url: str) -> AndroidWorldContainer:
    try:
        from distrl.task_sets.android_world_container import AndroidWorldContainer
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; AndroidWorld's container needs "
            "pip install 'distrl[served]'"
        ) from error
    return AndroidWorldContainer.open(url)


# Browsers ----------------------------------------------------------------------------------------


def build_browser(share: CollectorShare) -> list[Device]:
    return list(build_pages(share.config, tuple(share.names), share.opened))


def check_browser(config: TrainingConfig, _: Path) -> Sizes:
    return check_pages(config)


# Plugins -----------------------------------------------------------------------------------------


def build_registered(share: CollectorShare) -> list[Device]:
    return [make_registered(share.config.devices, name) for name in share.names]


def check_registered(config: TrainingConfig, _: Path) -> Sizes:
    """Make one device and close it, so that a wrong option is found before the run."""
    make_registered(config.devices, "phone-0").close()
    return {}


def make_registered(settings: DeviceSettings, name: str) -> Device:
    """Make a plugin's device with `devices.options`; raise `InvalidPlugin` if it is misnamed."""
    members = ("name", "seconds", "blocking", *DEVICE_CALLS)
    device: Device = plugins.make(
        "device", settings.kind, name, options=settings.options, members=members
    )
    if device.name != name:
        raise InvalidPlugin(
            f"the device {settings.kind!r} made {device!r:.60} for the name {name!r}: its name is "
            f"{device.name!r}; distrl.devices.device says what a device has"
        )
    return device


# The table: one row for each kind of device. docs/add-a-device.md shows how to add one -----------

REGISTERED = Kind(build_registered, check_registered)
KINDS: dict[str, Kind] = {
    "simulated": Kind(build_simulated, check_simulated),
    "adb": Kind(build_adb, check_adb),
    "emulator": Kind(build_emulators, check_emulators, keeps_spares=True),
    "android_world": Kind(build_android_world, check_android_world),
    "browser": Kind(build_browser, check_browser),
}
