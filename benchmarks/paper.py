"""The paper's table, on the simulated phone: `make bench-paper` (a GPU machine; see `--arms`).

Every arm is a real `distrl train` of the starter that differs in settings alone (`paper_arms`): 32
phones (8 in one arm) as slow as the paper's emulators, on a clock that runs `--speed` times as
fast, for `--seconds` of their time. Each family is trained separately. Training uses templates that
nobody demonstrated to the starter (the split `undemonstrated`) and that it solves now and then
(`paper_arms.TEMPLATES`): on demonstrated ones its success is too high for arms to differ, and on
those that it never solves there is nothing to learn from. Success is that of 400 tasks of the same
templates with other parameters, instructions and phones (`undemonstrated_test`), the same for every
run; it is measured after training and, on the first 100 of them, during training.

    start                 the starter before training: every run measures it
    filtered_bc           imitation of successes, asynchronous
    digirl_8_rounds       DigiRL as published: all phones play, then the learner trains
    digirl_32_rounds      the same on 32 phones
    digirl_async          DigiRL in our arrangement
    distrl                A-RIDE in our arrangement
    without_dper          drawn uniformly
    without_retrace       one step ahead, no ratios
    as_printed            the paper's equations without our two repairs

The main pair (distrl, digirl_32_rounds) has `--seeds`, the others `--seeds-others`.

`--tune` chooses settings for every arm by one rule, on seeds of its own (`paper_tuning`), and
writes them to results/paper-tuned.json (or `--tuned FILE`); a later run with `--tuned FILE` uses
them. That is 30 runs for each seed and family.

Time is spent by the phones, as the latency model says, and by the learner's steps, which take what
they take on this machine, the same for all arms (batches have the same size); `ARM_step_seconds` is
that time on the phones' clock, where the paper has 120 s for 20 steps. Several runs at once share
the GPU and make steps longer: compare arms of one `--at-once`. The paper's other waits are *not*
included, since no setting of a run adds them: image features and a model without a key-value cache
at every step, the evaluator's call, the start of a collector process, the fetch of a trajectory and
the 120 s of an update (`phonesim.latency`, from IMAGE_FEATURES on). `devices.latency` is the
phone's own; waits of the policy, judge, delivery and learner on the phones' clock are not
implemented. `make bench-time-to-success` has them, on errands.

Each run has a folder in `--keep`, by family, arm and seed. A run that has its result is not run
again (if it was made with other settings, the benchmark says so and ends); an interrupted run is
started again from the beginning. `--report` only reads what is there; `--from-curves` only computes
`…_by_seed_…` again, from the committed curves. Figures:

    collection_ratio            trajectories a minute, distrl over digirl_32_rounds
    relative_gain_FAMILY        success at the end, distrl over digirl_32_rounds, less 1
    time_ratio_by_seed_FAMILY   time to the final success of digirl_32_rounds, over distrl's time to
                                the same, seed by seed, on monotone curves (`monotone_curve`)
    time_ratio_FAMILY           the same on curves through all seeds' evaluations; the interval
                                is a percentile bootstrap over seeds, and too narrow with five. It
                                was chosen after other figures of the same runs had been seen
    training_time_ratio_…       both by the success of training episodes, in twelve parts of the
                                time: many more episodes than the evaluations have
    …_level                     final success of digirl_32_rounds
    FAMILY_ARM_…                success, its gain and its mean over time, collection, staleness,
                                effective samples, seconds_to_LEVEL (where a run did not reach it,
                                its whole time; …_not_reached counts those)
    FAMILY_ARM_against_distrl   success at the end less that of distrl, on the same seeds
    FAMILY_ARM_seed_N_…         each run: before, success, per_minute

with `_low` and `_high` (95 %, Student's t over seeds, ratios on logarithms) where there are seeds.
The curve of every run is in paper-curves.json, as pairs of seconds and success. An evaluation
during training has few tasks and may be lucky: the mean over time is steadier than the time to a
level. The benchmark ends by printing a table in Markdown; `--plot FILE.png` draws success over
time, with bands over seeds.

`make bench-paper-small` (`--small`) is for two cores without a GPU: the three kinds of tasks of the
quick start, which nobody demonstrated, with its settings and five draws for each trajectory in all
arms, on the same slow phones for 1,500 of their seconds; success of 100 tasks at the end and of 50
at four evaluations during training; 500 real seconds a run, and evaluations. Writes
paper-small.json and paper-small-curves.json; runs are kept in runs/paper-small.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks import results_file
from benchmarks.paper_arms import (
    ARMS,
    ARRANGEMENTS,
    MAIN_ARMS,
    SECONDS,
    SMALL_SECONDS,
    SMALL_SPEED,
    SPEED,
    Job,
)
from benchmarks.paper_chart import chart
from benchmarks.paper_figures import (
    curves_of,
    families_of,
    figures_of,
    table_of,
    times_of_curves,
)
from benchmarks.paper_runs import Played, play_all, played
from benchmarks.paper_tuning import TUNING_SEEDS, read_tuned, tune
from benchmarks.results_file import make_command, update_results, write_results
from distrl.records import CORE_FAMILIES, FAMILIES


def jobs_of(given: argparse.Namespace) -> list[Job]:
    """Return the jobs seed by seed, so that an interrupted benchmark has comparable runs."""
    tuned = read_tuned(given.tuned, given.arms) if given.tuned else {}
    seeds = {arm: given.seeds if arm in MAIN_ARMS else given.seeds_others for arm in given.arms}
    return [
        Job(family, arm, seed, tuned.get(arm, ()))
        for seed in sorted({each for several in seeds.values() for each in several})
        for family in given.families
        for arm in given.arms
        if seed in seeds[arm]
    ]


def draw(runs: Mapping[Job, Played], given: argparse.Namespace) -> None:
    """Draw a picture of each family; with several, FAMILY is added to the file's name."""
    families = families_of(runs)
    for family in families:
        several = f"-{family}" if len(families) > 1 else ""
        path = given.plot.with_name(given.plot.stem + several + ".png")
        chart(runs, family, given.plot_arms).draw().save(path, optimize=True)


def table_name(given: argparse.Namespace) -> str:
    return "paper-small" if given.small else "paper"


def times_again(name: str) -> None:
    curves = json.loads((results_file.RESULTS / f"{name}-curves.json").read_text("utf-8"))
    figures = times_of_curves({key: value for key, value in curves.items() if "_seed_" in key})
    rounded = {key: round(value, 4) for key, value in figures.items()}
    print(json.dumps(rounded, indent=2))
    update_results(name, rounded, "from_curves")


def main() -> None:
    given = arguments()
    if given.tune:
        tune(given, given.tuned or results_file.RESULTS / f"{table_name(given)}-tuned.json")
        return
    if given.from_curves:
        times_again(table_name(given))
        return
    jobs = jobs_of(given)
    if not given.report:
        play_all(jobs, [job.folder(given.keep) for job in jobs], given)
    found = {job: played(job.folder(given.keep)) for job in jobs}
    runs = {job: each for job, each in found.items() if each is not None}
    figures = {
        "runs": float(len(runs)),
        "missing": float(len(jobs) - len(runs)),
        **figures_of(runs),
    }
    rounded = {name: round(value, 4) for name, value in figures.items()}
    print(json.dumps(rounded, indent=2))
    for family in families_of(runs):
        print(f"\n{family}\n\n{table_of(figures, family)}")
    if given.plot is not None:
        draw(runs, given)
    if runs and (given.small or given.device != "cpu"):  # a trial on a CPU is no result
        name = table_name(given)
        command = make_command(f"bench-{name}", given_by_target=("--small",))
        write = update_results if given.report else write_results  # keeps how the runs were made
        how = "report" if given.report else command
        write(name, rounded, how)
        write(f"{name}-curves", curves_of(runs), how)


def arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("--small", action="store_true", help="the quick start's tasks, on a CPU")
    small = "--small" in sys.argv  # it has other defaults
    seconds, speed = (SMALL_SECONDS, SMALL_SPEED) if small else (SECONDS, SPEED)
    families = ["general"] if small else [*CORE_FAMILIES]
    seeds = [0, 1, 2] if small else [0, 1, 2, 3, 4]
    keep = Path("runs/paper-small" if small else "runs/paper")
    words.add_argument("--arms", nargs="+", choices=[*ARMS], default=[*ARMS])
    words.add_argument("--families", nargs="+", choices=FAMILIES, default=families)
    words.add_argument("--seeds", type=int, nargs="+", default=seeds, help="of the main pair")
    words.add_argument("--seeds-others", type=int, nargs="*", default=[0, 1, 2])
    words.add_argument("--tune", action="store_true", help="choose settings, write them to a file")
    words.add_argument("--tune-seeds", type=int, nargs="+", default=[*TUNING_SEEDS])
    words.add_argument("--tuned", type=Path, help="a JSON file with what --tune chose")
    words.add_argument("--seconds", type=float, default=seconds, help="of the phones' clock")
    words.add_argument("--speed", type=float, default=speed, help="their seconds in one of ours")
    words.add_argument("--at-once", type=int, default=1, help="runs side by side")
    words.add_argument("--device", default="cpu" if small else "cuda")
    words.add_argument("--collectors", type=int, default=1 if small else 4)
    words.add_argument("--keep", type=Path, default=keep, help="a folder for the runs")
    words.add_argument("--set", action="append", default=[], help="a setting of all runs, a.b=c")
    words.add_argument("--plot", type=Path, help="a picture to draw, FILE.png")
    words.add_argument("--plot-arms", nargs="+", choices=[*ARMS], default=[*ARRANGEMENTS])
    words.add_argument("--report", action="store_true", help="run nothing")
    words.add_argument("--from-curves", action="store_true", help="ratios of times alone")
    given = words.parse_args()
    if given.tune and {*given.tune_seeds} & {*given.seeds, *given.seeds_others}:
        words.error("--tune-seeds are among --seeds; tune on others")
    return given


if __name__ == "__main__":
    main()
