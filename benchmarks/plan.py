"""Compare the predictions of `distrl plan` with real runs on a scaled clock: `make bench-plan`.

Figures go to `benchmarks/results/plan.json`, with the load average of the machine before the runs:
on a busy machine other processes are measured too. The exit status is 1 if a prediction is off by
more than `GOAL`.

`--seconds` is the length of each of the six runs; below a minute the counts are too small to mean
much.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks import plan_check
from benchmarks.plan_check import Checked
from benchmarks.results_file import write_results

GOAL = 0.1  # largest error, as a share of the measured throughput


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=plan_check.SECONDS)
    chosen = options.parse_args()
    console, load = Console(), os.getloadavg()[0]
    checked = list(plan_check.check(plan_check.calibrate(chosen.seconds), chosen.seconds))
    console.print(check_table(checked), highlight=False)
    figures = plan_check.figures(checked) | {"seconds_each": chosen.seconds, "load_before": load}
    console.print(f"plan_error_max {figures['plan_error_max']:.3f}", highlight=False)
    console.print(write_results("plan", figures))
    sys.exit(0 if figures["plan_error_max"] <= GOAL else 1)


def check_table(checked: Sequence[Checked]) -> Table:
    """Predicted beside measured."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("predicted · measured")  # names may take two lines, figures may not be cut
    for name in ("per min", "off", "busy", "staleness", "idle"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in checked:
        predicted, measured = each.predicted, each.measured
        table.add_row(
            each.name,
            f"{predicted.trajectories_per_minute:.1f} · {measured.trajectories_per_minute:.1f}",
            f"{each.error:.1%}",
            f"{predicted.device_busy:.0%} · {measured.device_busy:.0%}",
            f"{predicted.staleness.mean:.2f} · {measured.staleness_mean:.2f}",
            f"{predicted.learner_idle:.0%} · {measured.learner_idle:.0%}",
        )
    return table


if __name__ == "__main__":
    main()
