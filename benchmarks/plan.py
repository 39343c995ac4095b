"""Is `distrl plan` right? `make bench-plan` holds it against real runs on a scaled clock.

The same as `distrl plan --check`; its figures go to `benchmarks/results/plan.json`, with the load
of the machine before it began: on a busy one, what is measured is the neighbours.

`--seconds` is how long each of the six runs takes; below a minute counts are too small to mean
much.
"""

from __future__ import annotations

import argparse
import os

from rich.console import Console

from benchmarks import plan_check
from benchmarks.results_file import write_results
from distrl.cli.plan import check_table


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seconds", type=float, default=plan_check.SECONDS)
    chosen = words.parse_args()
    console, load = Console(), os.getloadavg()[0]
    checked = list(plan_check.check(plan_check.calibrate(chosen.seconds), chosen.seconds))
    console.print(check_table(checked), highlight=False)
    figures = plan_check.figures(checked) | {"seconds_each": chosen.seconds, "load_before": load}
    console.print(f"plan_error_max {figures['plan_error_max']:.3f}", highlight=False)
    console.print(write_results("plan", figures))


if __name__ == "__main__":
    main()
