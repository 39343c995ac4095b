"""The two phones beside each other, with a small folder in the place of MobileGym's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.mobilegym import NAMES, held_megabytes, measure_times, table
from tests.task_sets.small_mobilegym import write_mobilegym
from tests.task_sets.test_mobilegym import forget_package

from distrl.devices.browser.chromium import PROGRAMS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="there is no Chromium"),
]
TIMES = [
    "start_ms", "step_ms", "reset_ms", "set_up_ms", "verdict_ms", "snapshot_ms", "restore_ms",
    "restored_share",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    forget_package()
    yield str(write_mobilegym(tmp_path / "mobilegym"))
    forget_package()


def test_times_of_both_are_taken_by_the_same_code(folder: str) -> None:
    figures: dict[str, float] = {"phones": 1, "load": 0.5}
    for name in NAMES:
        figures |= measure_times(name, folder, steps=2, resets=1)
    both = {f"{name}_{figure}" for name in NAMES for figure in TIMES}
    assert set(figures) == both | {"mobilegym_moving_step_ms", "phones", "load"}
    assert all(value > 0 for value in figures.values())
    assert table(figures).row_count == len(TIMES) + 1


def test_phones_are_weighed_in_a_process_of_their_own(folder: str) -> None:
    assert held_megabytes("mobilegym", folder, 1) > 100  # a browser and Python
