"""Where a benchmark's figures go: one flat JSON file, figure -> number, with how it was made."""

from __future__ import annotations

import datetime as dt
import json
import platform
import sys
from collections import Counter
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


def make_command(target: str) -> str:
    """`make TARGET` with what was handed on; of a folder on this machine its name alone."""
    words = " ".join(Path(each).name if each.startswith("/") else each for each in sys.argv[1:])
    return f'make {target} ARGS="{words}"' if words else f"make {target}"


def _today() -> str:
    return dt.datetime.now(dt.UTC).date().isoformat()


def added(name: str, counts: Mapping[str, float]) -> dict[str, float]:
    """The counts of this batch and of those that the file has of batches before it."""
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    both = Counter({key: n for key, n in before.items() if isinstance(n, int | float)})
    both.update({"batches": 1, **counts})
    return dict(both)


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
