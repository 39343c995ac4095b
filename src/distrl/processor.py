"""The CPU of this machine: the cores that this process may use, and whether bf16 is worthwhile."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def usable_cores() -> int:
    """Return the number of cores this process may run on; all cores if that is unknown (a Mac)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def bf16_obstacle(
    cpuinfo: Path = Path("/proc/cpuinfo"), environment: Mapping[str, str] = os.environ
) -> str:
    """Return why this process should not compute in bf16 on the CPU; empty if bf16 is fast.

    Without bf16 instructions, bf16 is slower than float32. Some virtual machines report AMX but
    cannot run it: there the first product kills the process (`process_environment`).
    """
    lines = cpuinfo.read_text("utf-8", "replace").splitlines() if cpuinfo.exists() else []
    flags = {flag for line in lines if line.startswith("flags") for flag in line.split()}
    if "avx512_bf16" not in flags:
        return "this processor has no AVX512-BF16, and would be slower with it than in float32"
    if "amx_bf16" in flags and "ONEDNN_MAX_CPU_ISA" not in environment:
        return (
            "this process was started without ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16, which keeps it "
            "from AMX (`distrl` sets it for itself)"
        )
    return ""
