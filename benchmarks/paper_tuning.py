"""Tuning of the paper's arms, by one rule for all: settings are chosen one after the other.

Every arm begins with the first value of each of its choices (`choices_of`: the learning rate; then,
for A-RIDE, signed or filtered advantages, and λ; for DigiRL, the share that its curriculum lets
through, and λ; for filtered imitation, the share of successes). Every value of a choice is tried
with the earlier choices fixed. The value with the best final success is kept, averaged over
families and tuning seeds; among equals, the first. So an arm has at most four candidates, and an
arm gets more runs than another only by having more settings. Tuning seeds differ from the table's
seeds, but the test tasks are the same, for every arm: the table compares arms and does not say how
well a tuned arm does on tasks that played no part in tuning.

The file has `arms` (what was chosen, by arm), `tried` (each candidate's success) and what it was
tuned with. Arms that are not tuned this time keep their entries in the file. Runs are kept in
`--keep`/tuning: a candidate that has a result is not run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.paper_arms import Job, choices_of
from benchmarks.paper_runs import play_all, played

TUNING_SEEDS = (100, 101)
Tuned = tuple[tuple[str, object], ...]  # settings and their values


@dataclass(slots=True)
class ArmTuning:
    """The settings chosen so far for one arm."""

    arm: str
    chosen: dict[str, object] = field(default_factory=dict)
    tried: dict[Tuned, float] = field(default_factory=dict)  # final success

    @classmethod
    def begin(cls, arm: str) -> ArmTuning:
        return cls(arm, {name: values[0] for name, values in choices_of(arm).items()})

    def candidates(self, number: int) -> list[Tuned]:
        """Return one candidate per value of a choice, or none where the arm has fewer choices."""
        choices = list(choices_of(self.arm).items())
        if number >= len(choices):
            return []
        name, values = choices[number]
        return [tuple((self.chosen | {name: value}).items()) for value in values]

    def choose(self, candidates: Sequence[Tuned]) -> None:
        """Keep the best candidate, the first among equals."""
        if candidates:
            best = max(self.tried[each] for each in candidates)
            self.chosen = dict(next(each for each in candidates if self.tried[each] == best))


def tune(given: argparse.Namespace, path: Path) -> None:
    """Tune every arm of `given`, and write the file."""
    tunings = [ArmTuning.begin(arm) for arm in given.arms]
    for number in range(max(len(choices_of(arm)) for arm in given.arms)):
        candidates = {each.arm: each.candidates(number) for each in tunings}
        jobs = [
            Job(family, arm, seed, tuned)
            for arm, several in candidates.items()
            for tuned in several
            for seed in given.tune_seeds
            for family in given.families
        ]
        if not given.report:
            play_all(jobs, [job.tuning_folder(given.keep) for job in jobs], given)
        for each in tunings:
            own = [job for job in jobs if job.arm == each.arm]
            each.tried |= _successes(own, given.keep)
            each.choose(candidates[each.arm])
    write_tuned(path, tunings, given)


def _successes(jobs: Iterable[Job], keep: Path) -> dict[Tuned, float]:
    """Return the mean success of each candidate."""
    found: dict[Tuned, list[float]] = {}
    for job in jobs:
        run = played(job.tuning_folder(keep))
        if run is None:
            sys.exit(f"{job.tuning_folder(keep)} has no result; see its log, then tune again")
        found.setdefault(job.tuned, []).append(run.after)
    return {tuned: statistics.fmean(each) for tuned, each in found.items()}


def write_tuned(path: Path, tunings: Iterable[ArmTuning], given: argparse.Namespace) -> None:
    before: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    tried = {
        each.arm: [
            {"settings": dict(tuned), "success": round(success, 4)}
            for tuned, success in each.tried.items()
        ]
        for each in tunings
    }
    content = {
        "arms": before.get("arms", {}) | {each.arm: each.chosen for each in tunings},
        "tried": before.get("tried", {}) | tried,
        "seeds": given.tune_seeds,
        "families": given.families,
        "seconds": given.seconds,
    }
    path.write_text(json.dumps(content, indent=2) + "\n")
    print(path.read_text("utf-8"))


def read_tuned(path: Path, arms: Iterable[str]) -> dict[str, Tuned]:
    """Read the chosen settings of these arms, all of which must be in the file."""
    chosen: Mapping[str, Mapping[str, object]] = json.loads(path.read_text("utf-8"))["arms"]
    if missing := [arm for arm in arms if arm not in chosen]:
        sys.exit(f"{path} has nothing for {', '.join(missing)}: tune them too, by the same rule")
    return {arm: tuple(chosen[arm].items()) for arm in arms}
