"""A run records what it uses of its machine, and leaves out what the machine does not tell."""

from __future__ import annotations

import mmap
from pathlib import Path

from distrl.engine.run.machine_usage import machine_usage


def test_shares_and_gigabytes_are_those_of_this_machine(tmp_path: Path) -> None:
    before = machine_usage(tmp_path)
    assert before["machine/disk_free_gigabytes"] > 0.0
    assert before["machine/memory_left_gigabytes"] > 0.0
    with mmap.mmap(-1, 100_000_000) as held:  # from the kernel: the heap may have free pages
        held.write(b"1" * len(held))
        after = machine_usage(tmp_path)
    grown = after["machine/learner_gigabytes"] - before["machine/learner_gigabytes"]
    assert 0.08 < grown < 0.3


def test_a_disk_that_is_gone_costs_its_figure_alone(tmp_path: Path) -> None:
    figures = machine_usage(tmp_path / "gone")
    assert "machine/disk_free_gigabytes" not in figures
    assert "machine/memory_left_gigabytes" in figures
