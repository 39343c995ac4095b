"""From settings to devices: shares of the collectors, clocks, judges, refusals."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config

from distrl.config.sections import DeviceSettings
from distrl.engine.device_wiring import (
    LATENCIES,
    CollectorShare,
    build_clock,
    build_device_pool,
    build_emulators,
    build_judges,
    build_simulated,
    check_phones,
)
from distrl.errors import InvalidSetting
from distrl.judging.judge import DeferredJudge
from phonesim.clock import RealClock, ScaledClock, VirtualClock
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

JUDGED_LATER = ("judge.kind=vlm", "judge.server=http://localhost:1/v1", "judge.model=m")


def test_collectors_share_phones_and_spares(tmp_path: Path) -> None:
    words = ("devices.count=5", "devices.spares=2", "collection.collectors=2")
    config = tiny_config(tmp_path, tmp_path, *words)
    with ExitStack() as opened:
        pools = [build_device_pool(config, number, opened, tmp_path) for number in range(2)]
        names = [[each.name for each in pool.devices] for pool in pools]
    assert names == [
        ["phone-0", "phone-2", "phone-4", "spare-0"], ["phone-1", "phone-3", "spare-1"]
    ]  # fmt: skip
    assert [pool.slots for pool in pools] == [3, 2]


def test_a_simulated_phone_has_the_clock_of_its_settings() -> None:
    settings = DeviceSettings()
    assert isinstance(build_clock(replace(settings, clock="virtual")), VirtualClock)
    assert isinstance(build_clock(replace(settings, clock="real")), RealClock)
    assert isinstance(build_clock(replace(settings, clock="scaled")), ScaledClock)
    assert "none" in LATENCIES


def test_simulated_phones_have_the_names_of_the_collectors_share(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path)
    with ExitStack() as opened:
        share = CollectorShare(config, {"phone-3": 3}, 0, opened, tmp_path)
        assert [device.name for device in build_simulated(share)] == ["phone-3"]


def test_facts_judge_at_once_and_a_served_model_later(tmp_path: Path) -> None:
    device = SimulatedDevice("phone-0")
    at_once = build_judges(tiny_config(tmp_path, tmp_path))(device)
    assert isinstance(at_once, FactJudge)
    later = build_judges(tiny_config(tmp_path, tmp_path, *JUDGED_LATER))(device)
    assert isinstance(later, DeferredJudge)


def test_the_screens_of_simulated_phones_are_known_and_own_emulators_need_no_guard(
    tmp_path: Path,
) -> None:
    assert list(check_phones(tiny_config(tmp_path, tmp_path), tmp_path).values()) == [(360, 720)]
    guarded = tiny_config(tmp_path, tmp_path, "devices.android.guard_all=true")
    with ExitStack() as opened, pytest.raises(InvalidSetting, match="guard_all=True"):
        build_emulators(CollectorShare(guarded, {"phone-0": 0}, 0, opened, tmp_path))
    dry = tiny_config(tmp_path, tmp_path, "devices.android.safety.dry_run=true")
    with ExitStack() as opened, pytest.raises(InvalidSetting, match="dry_run=True"):
        build_emulators(CollectorShare(dry, {"phone-0": 0}, 0, opened, tmp_path))
