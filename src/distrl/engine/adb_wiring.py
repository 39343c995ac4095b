"""Build the phones of a collector over adb, leased to its run (`devices.adb.phone_leases`).

The phones of a run are chosen once, when its command starts, and stored by device name and serial
in `phones.json`. So a phone that adb loses does not shift the others, and a restarted collector
never drives another collector's phone. A resumed run keeps its phones, replaces those that are
gone, and reports the changes. If `phones.json` is missing or damaged, the resume is refused
(`run.losses`). On a cluster there is no such file: each collector leases free phones of its node.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from distrl.config.training_config import TrainingConfig
from distrl.devices.adb.android_device import AndroidDevice
from distrl.devices.adb.android_phones import AdbPhone, open_phone
from distrl.devices.adb.android_state import screen_size
from distrl.devices.adb.android_tools import running_server
from distrl.devices.adb.phone_leases import is_leased_to, lease_serials, reserve_serials
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.devices.safety.refusals import RefusalOutbox
from distrl.devices.safety.safety import SafeDevice
from distrl.errors import CorruptData, DataLost, InvalidSetting, storage_error
from distrl.runs.checked_json import CHECKSUM, is_as_written, to_checked_json
from distrl.runs.run_directory import RunDirectory, write_whole

Serials = dict[str, str]  # device name -> serial

log = logging.getLogger(__name__)


def lease_phones(
    config: TrainingConfig, folder: Path, opened: ExitStack, say: Callable[[str], None]
) -> None:
    """Choose the phones of all collectors on this machine and lease them to the run in `folder`.

    Pass to `say` which phones differ from before. Raise if another run has leased one. Do nothing
    for other kinds of device, on a cluster, and if no episodes are played here.
    """
    for each in config.by_environment().values():
        plays = each.learning.learner.mode != "offline" and each.collection.collectors > 0
        if each.devices.kind == "adb" and each.engine.kind != "ray" and plays:
            _choose(each, folder, opened, say)


def _choose(
    config: TrainingConfig, folder: Path, opened: ExitStack, say: Callable[[str], None]
) -> Serials:
    known = _read(folder)
    before = {name: each for name, each in known.items() if _has(config, name)}
    serials = _lease(config, folder, opened)
    if serials != before:
        elsewhere = {name: each for name, each in known.items() if name not in before}
        write_whole(RunDirectory(folder).phones, to_checked_json(elsewhere | serials))
    others = [
        f"{name} was {before[name]} and is {serial}"
        for name, serial in serials.items()
        if before.get(name, serial) != serial
    ]
    if others:
        say(f"other phones than before: {'; '.join(others)}")
    return serials


def _has(config: TrainingConfig, name: str) -> bool:
    """Return whether a phone is of this environment; without environments, all phones are."""
    return not config.environment or name in _names(config)


def _names(config: TrainingConfig) -> list[str]:
    devices = config.devices
    names = [config.device_name(n) for n in range(devices.count)]
    return names + [config.device_name(n, "spare") for n in range(devices.spares)]


def _lease(config: TrainingConfig, folder: Path, opened: ExitStack) -> Serials:
    settings, names = config.devices, _names(config)
    server = running_server(settings.android.adb_port)
    return lease_serials(server, settings.serials, names, folder, opened, _read(folder))


def _leased(config: TrainingConfig, folder: Path) -> Serials:
    """Return the run's phones if all are leased to it and fit the settings; else nothing."""
    settings = config.devices
    serials = {name: each for name, each in _read(folder).items() if _has(config, name)}
    found = tuple(serials.values())
    named = settings.serials[: settings.count + settings.spares]
    if len(found) != settings.count + settings.spares or (named and found != named):
        return {}
    return serials if all(is_leased_to(each, folder) for each in found) else {}


def _read(folder: Path) -> Serials:
    """Read `phones.json`; empty if there is none. Raise if damaged: it may name other phones."""
    path = RunDirectory(folder).phones
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise storage_error(error, f"reading {path}") from error
    found = json.loads(content) if is_as_written(content) else None
    if found is None or not all(isinstance(each, str) for each in found.values()):
        raise DataLost(
            f"{path} is not as it was written; it says which phones are driven here: restore it, "
            "or remove it, and others may be driven than before (`distrl devices` lists them)"
        )
    found.pop(CHECKSUM, None)
    return dict(found)


def build_phones(
    config: TrainingConfig, names: tuple[str, ...], opened: ExitStack, folder: Path
) -> list[AdbPhone]:
    """Open the phones with these names; `opened` releases the leases that this call takes.

    Actions that guarded phones refuse are logged in the run's directory, or in `safety.record`.
    """
    record = str(RunDirectory(folder).refusals)
    if config.engine.kind != "ray":
        serials = _leased(config, folder)
        if not serials and config.collection.collectors > 1:  # one of several must not choose
            raise CorruptData(
                f"{RunDirectory(folder).phones} does not say which phones are leased to this run; "
                f"stop it, and go on with distrl train --resume {folder}"
            )
        serials = serials or _choose(config, folder, opened, log.warning)
        return open_phones(config, {name: serials[name] for name in names}, record)
    server = running_server(config.devices.android.adb_port)
    free = reserve_serials(server, config.devices.serials, len(names), folder, opened)
    return open_phones(config, dict(zip(names, free, strict=True)), record)


def check_adb(config: TrainingConfig, folder: Path) -> dict[str, tuple[int, int]]:
    """Raise if a phone cannot be used; return the screen sizes by phone."""
    if config.engine.kind == "ray":
        return {}  # they are on the collectors' nodes: `ray.node_phones` checks them there
    with ExitStack() as opened:
        return look_at_phones(config, _leased(config, folder) or _lease(config, folder, opened))


def look_at_phones(config: TrainingConfig, serials: Serials) -> dict[str, tuple[int, int]]:
    """Return the screen sizes of leased phones; raise if a guarded one lacks consent."""
    sizes: dict[str, tuple[int, int]] = {}
    for device in open_phones(config, serials):
        if isinstance(device, SafeDevice):
            device.consent()  # raises, and says what the owner has to write where
        inner = device if isinstance(device, AndroidDevice) else device.device
        if (size := screen_size(inner.shell)) is not None:
            sizes[f"{device.name} ({inner.shell.serial})"] = size
        device.close()
    return sizes


def open_phones(config: TrainingConfig, serials: Serials, record: str = "") -> list[AdbPhone]:
    """Open phones by name and serial; simulated tasks are refused on phones not served by us."""
    safety = config.devices.android.safety
    android = replace(
        config.devices.android, safety=replace(safety, record=safety.record or record)
    )
    server = running_server(android.adb_port)
    devices: list[AdbPhone] = []
    for name, serial in serials.items():
        device = open_phone(name, serial, server, android)
        simulated = config.tasks.source == "simulated"
        if simulated and not isinstance(device, SimulatedAdbDevice):
            raise InvalidSetting(
                f"devices.kind='adb' with {serial}, which is no served simulated phone: "
                "tasks.source='simulated' are facts on one, and `distrl phone serve` starts them; "
                "on other phones give tasks.source='aitw' and judge.kind='vlm'"
            )
        devices.append(device)
    return devices


def recording_in(config: TrainingConfig, path: Path) -> tuple[TrainingConfig, RefusalOutbox | None]:
    """Log refused actions of guarded phones to `path`, from where the outbox sends them on.

    For a collector whose disk is not the learner's. No outbox if the user set `safety.record`.
    """
    android = config.devices.android
    if android.safety.record:
        return config, None
    android = replace(android, safety=replace(android.safety, record=str(path)))
    devices = replace(config.devices, android=android)
    return replace(config, devices=devices), RefusalOutbox(path)
