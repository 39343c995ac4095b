"""The processor of this machine: the cores that this process may use, and whether bf16 pays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def usable_cores() -> int:
    """Those that the process may run on; where the system cannot say that (a Mac), all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def bf16_obstacle(
    cpuinfo: Path = Path("/proc/cpuinfo"), environment: Mapping[str, str] = os.environ
) -> str:
    """Why bf16 should not be computed in this process, on the CPU; empty where it is quick.

    Without instructions for it, bf16 is slower than float32. With AMX, which virtual machines show
    and some cannot run, the first product may end the process (`process_environment`).
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
