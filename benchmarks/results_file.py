"""Where a benchmark's figures go: one flat JSON file, figure -> number, with how it was made.

Series that are too long for it (curves of runs) go to a file of their own beside it.
"""

from __future__ import annotations

import datetime as dt
import json
import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write_results(name: str, figures: Mapping[str, object], command: str = "") -> Path:
    """Write `benchmarks/results/NAME.json`, and return where it is."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    write_figures(path, figures, command or f"make bench-{name}")
    return path


def write_figures(path: Path, figures: Mapping[str, object], command: str) -> None:
    """Write a file of figures that says how it was made, wherever it is to lie."""
    made = {
        "command": command,
        "date": _today(),
        "python": platform.python_version(),
        "processor": _processor(),
    }
    lines = [f"  {_json(key)}: {_json(value)}" for key, value in {**figures, **made}.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")  # a series on one line


def update_results(name: str, figures: Mapping[str, float | str], part: str) -> Path:
    """Replace some figures of a file; `PART_date` says when. The rest is as it was measured."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        write_results(name, {})
    kept = json.loads(path.read_text("utf-8"))
    changed = {**kept, **figures, f"{part}_date": _today()}
    path.write_text(json.dumps(changed, indent=2, ensure_ascii=False) + "\n")
    return path


def make_command(target: str, given_by_target: Sequence[str] = ()) -> str:
    """`make TARGET` with what was handed on; of a folder on this machine its name alone."""
    handed_on = [each for each in sys.argv[1:] if each not in given_by_target]
    words = " ".join(Path(each).name if each.startswith("/") else each for each in handed_on)
    return f'make {target} ARGS="{words}"' if words else f"make {target}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


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
