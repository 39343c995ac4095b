"""Write a benchmark's figures to one flat JSON file: figure -> number, and how it was made.

Series that are too long for it (curves of runs) go to a separate file beside it.
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
    """Write `benchmarks/results/NAME.json`, and return its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    write_figures(path, figures, command or f"make bench-{name}")
    return path


def write_figures(path: Path, figures: Mapping[str, object], command: str) -> None:
    """Write figures with command, date, Python and processor to any path."""
    made = {
        "command": command,
        "date": _today(),
        "python": platform.python_version(),
        "processor": _processor(),
    }
    _write(path, {**figures, **made})


def update_results(name: str, figures: Mapping[str, object], part: str) -> Path:
    """Replace some figures of a file, and set `PART_date` to today; the others stay."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        write_results(name, {})
    kept = json.loads(path.read_text("utf-8"))
    _write(path, {**kept, **figures, f"{part}_date": _today()})
    return path


def _write(path: Path, figures: Mapping[str, object]) -> None:
    """Write one line per figure, also for a series."""
    lines = [f"  {_json(key)}: {_json(value)}" for key, value in figures.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def make_command(target: str, given_by_target: Sequence[str] = ()) -> str:
    """Return `make TARGET` with the arguments given; absolute paths are cut to their names."""
    handed_on = [each for each in sys.argv[1:] if each not in given_by_target]
    words = " ".join(Path(each).name if each.startswith("/") else each for each in handed_on)
    return f'make {target} ARGS="{words}"' if words else f"make {target}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _today() -> str:
    return dt.datetime.now(dt.UTC).date().isoformat()


def added(name: str, counts: Mapping[str, float]) -> dict[str, float]:
    """Add the counts of this batch to those of earlier batches in the file."""
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
