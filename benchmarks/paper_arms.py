"""The arms of the paper's table as settings of `distrl train`, and the settings that are tuned.

An arm is `ARMS[name]` on top of settings that all arms share (`SETTINGS`, or for the small table
the config `SMALL_CONFIG` and `SMALL`). `choices_of` has the settings that tuning may change, each
with two values; the first is the untuned one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

Settings = Mapping[str, object]

SECONDS = 6_000.0  # of the phones' clock
SPEED = 20.0
LOOKS = 6  # evaluations during training
TEST_TASKS, TASKS_ON_THE_WAY = 400, 100
# The trained templates: undemonstrated ones that the starter solved at least once when measured on
# all 41 (820 sampled attempts, results/undemonstrated-start.json). The other 29 give no arm any
# reward in these minutes, and would only dilute the results of all arms.
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "general": (
        "browser.ask_story", "browser.open_bookmark", "calculator.ask_bracketed",
        "clock.turn_on_alarm", "maps.navigate_between", "messages.reply_newest",
        "notes.unarchive", "todo.rename_list",
    ),
    "shopping": (
        "shopping.ask_how_many", "shopping.ask_wishes", "shopping.filter_brand",
        "shopping.remove_wish",
    ),
}  # fmt: skip
SETTINGS: Settings = {
    "tasks.split": "undemonstrated",
    "devices.count": 32,
    "devices.latency": "paper_emulator",
    "devices.clock": "scaled",
    "replay.capacity": 2_000,
    "pacing.minimum_fill": 32,
    "pacing.samples_per_insert": 4,
    "learning.learner.batch_trajectories": 16,
    "learning.learner.updates_per_publish": 4,
    "learning.learner.staleness.at_start": 64,
    "learning.learner.staleness.at_arrival": 256,
    "evaluation.split": "undemonstrated_test",
    "evaluation.before": TEST_TASKS,
    "evaluation.after": TEST_TASKS,
    "evaluation.every_episodes": TASKS_ON_THE_WAY,
    "agent.policy.sampling.max_new_tokens": 32,
    "agent.policy.critic.instruction_words": 512,
}
SMALL_CONFIG, SMALL_SECONDS, SMALL_SPEED, SMALL_LOOKS = "quick_start", 1_500.0, 3.0, 4
SMALL: Settings = {  # on top of its config
    "devices.count": 32,
    "devices.latency": "paper_emulator",
    "devices.clock": "scaled",
    "pacing.minimum_fill": 32,
    "pacing.samples_per_insert": 5,  # on two cores, phones and evaluations need one of them
    "evaluation.before": 100,
    "evaluation.after": 100,
    "evaluation.every_episodes": 50,
    "learning.a_ride.advantage": "filtered",
    "reporting.recordings": 0,
}
ROUNDS = {"collection.mode": "synchronous", "learning.algorithm": "digirl"}
ARMS: Mapping[str, Settings] = {
    "filtered_bc": {"learning.algorithm": "filtered_bc"},
    "digirl_8_rounds": {**ROUNDS, "devices.count": 8},
    "digirl_32_rounds": dict(ROUNDS),
    "digirl_async": {"learning.algorithm": "digirl"},
    "distrl": {"learning.algorithm": "a_ride"},
    "without_dper": {"learning.algorithm": "a_ride", "learning.learner.draws": "uniform"},
    "without_retrace": {
        "learning.algorithm": "a_ride",
        "learning.a_ride.retrace_lambda": 0.0,
        "learning.a_ride.ratio_level": "none",
    },
    "as_printed": {"learning.algorithm": "a_ride", "learning.a_ride.as_printed": "true"},
}
OURS, THEIRS = "distrl", "digirl_32_rounds"
ARRANGEMENTS = ("filtered_bc", "digirl_8_rounds", "digirl_32_rounds", "digirl_async", "distrl")
MAIN_ARMS = (THEIRS, OURS)  # compared by `time_ratio` and `relative_gain`: more seeds

RATES = {"learning.step.learning_rate": (1e-4, 3e-4)}
CHOICES_OF_ALGORITHM: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "filtered_bc": {**RATES, "learning.filtered_bc.share": (1.0, 0.5)},
    "digirl": {
        **RATES,
        "learning.digirl.curriculum_share": (0.5, 1.0),
        "learning.digirl.decay": (0.5, 0.9),
    },
    "a_ride": {
        **RATES,
        "learning.a_ride.advantage": ("filtered", "signed"),
        "learning.a_ride.retrace_lambda": (0.95, 0.5),
    },
}


def choices_of(arm: str) -> dict[str, tuple[object, ...]]:
    """Return the settings that tuning may change; those that define the arm are excluded."""
    own = ARMS[arm]
    choices = CHOICES_OF_ALGORITHM[str(own["learning.algorithm"])]
    return {name: values for name, values in choices.items() if name not in own}


@dataclass(frozen=True, slots=True)
class Job:
    """One run; `tuned` are settings that tuning has chosen, or tries."""

    family: str
    arm: str
    seed: int
    tuned: tuple[tuple[str, object], ...] = ()

    def folder(self, keep: Path) -> Path:
        return keep / f"{self.family}-{self.arm}-{self.seed}"

    def tuning_folder(self, keep: Path) -> Path:
        """Return a folder whose name includes the tried values."""
        values = "-".join(str(value) for _, value in self.tuned)
        return keep / "tuning" / f"{self.family}-{self.arm}-{self.seed}-{values}"


def settings_of(job: Job, folder: Path, given: argparse.Namespace) -> dict[str, object]:
    """Return all settings of a run on top of its config, if it has one."""
    minutes = given.seconds / given.speed / 60.0
    looks = SMALL_LOOKS if given.small else LOOKS
    templates = {"tasks.templates": list_of(TEMPLATES[job.family])}
    return {
        **(SMALL if given.small else {**SETTINGS, **templates}),
        **ARMS[job.arm],
        **dict(job.tuned),
        "run.name": "paper",
        "run.directory": folder,
        "run.seed": job.seed,
        "run.minutes": minutes,
        "tasks.families": list_of([job.family]),
        "devices.clock_speed": given.speed,
        "agent.policy.device": given.device,
        "collection.collectors": given.collectors,
        "evaluation.every_minutes": max(0.1, minutes / (looks + 1)),  # the last is after training
        **dict(word.split("=", 1) for word in given.set),
    }


def list_of(words: Iterable[str]) -> str:
    """Write a list as the value of a `--set` option."""
    return f"[{', '.join(json.dumps(word) for word in words)}]"
