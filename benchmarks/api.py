"""Measure the size of the public API and the cost of importing it (`make bench-api`, api.json).

names: names that `distrl` exports. shortest_script_lines: lines of examples/train.py as it stands.
import_ms: median over processes that only import `distrl`, timed inside the process.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import distrl
from benchmarks.results_file import write_results

ROOT = Path(__file__).parents[1]
TIMES = 15
CODE = (
    "import time; start = time.perf_counter(); import distrl; "
    "print(1e3 * (time.perf_counter() - start))"
)


def import_ms() -> float:
    words = [sys.executable, "-c", CODE]
    outputs = [
        subprocess.run(words, capture_output=True, text=True, check=True).stdout
        for _ in range(TIMES)
    ]
    return statistics.median(float(each) for each in outputs)


def main() -> None:
    script = (ROOT / "examples" / "train.py").read_text("utf-8").splitlines()
    found = {
        "names": len(distrl.__all__),
        "shortest_script_lines": len(script),
        "import_ms": round(import_ms(), 2),
    }
    print(found)
    write_results("api", found)


if __name__ == "__main__":
    main()
