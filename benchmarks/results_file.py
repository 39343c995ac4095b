"""Where a benchmark's figures go: one flat JSON file, figure -> number, with how it was made."""

from __future__ import annotations

import datetime as dt
import json
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write_results(name: str, figures: Mapping[str, float], command: str = "") -> Path:
    """Write `benchmarks/results/NAME.json`, and return where it is."""
    RESULTS.mkdir(exist_ok=True)
    made = {
        "command": command or f"make bench-{name}",
        "date": _today(),
        "python": platform.python_version(),
        "processor": _processor(),
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({**figures, **made}, indent=2, ensure_ascii=False) + "\n")
    return path


def update_results(name: str, figures: Mapping[str, float], part: str) -> Path:
    """Replace some figures of a file; `PART_date` says when. The rest is as it was measured."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        write_results(name, {})
    kept = json.loads(path.read_text("utf-8"))
    changed = {**kept, **figures, f"{part}_date": _today()}
    path.write_text(json.dumps(changed, indent=2, ensure_ascii=False) + "\n")
    return path


def _today() -> str:
    return dt.datetime.now(dt.UTC).date().isoformat()


def earlier(name: str) -> dict[str, float]:
    """The figures of an earlier run of the benchmark; none where there was no such run."""
    path = RESULTS / f"{name}.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {key: value for key, value in found.items() if isinstance(value, int | float)}


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
