"""Cores are counted on every system; bf16 is computed where it is quick and safe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distrl.processor import bf16_obstacle, usable_cores


def test_cores_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    monkeypatch.delattr(os, "sched_getaffinity")  # as on a Mac
    assert usable_cores() == (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("flags", "environment", "obstacle"),
    [
        ("fpu avx512f avx512_bf16", {}, ""),
        ("fpu avx512f avx512_bf16 amx_bf16", {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}, ""),
        ("fpu avx512f avx512_bf16 amx_bf16", {}, "without ONEDNN_MAX_CPU_ISA"),
        ("fpu avx512f", {}, "no AVX512-BF16"),
    ],
)
def test_bf16_is_for_processors_that_have_it(
    tmp_path: Path, flags: str, environment: dict[str, str], obstacle: str
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t: none\n")
    found = bf16_obstacle(cpuinfo, environment)
    assert obstacle in found
    assert bool(found) == bool(obstacle)
    assert "no AVX512-BF16" in bf16_obstacle(tmp_path / "none", environment)  # no Linux
