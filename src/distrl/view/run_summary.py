"""Summary figures of a run, its settings, and its comparison with another run, task by task."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from distrl.episodes.outcome import SuccessRate, paired_gain
from distrl.reporting.live_view import gain_words
from distrl.reporting.run_story import RunStory
from distrl.runs.run_account import waiting_share
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EvaluationLine
from distrl.toml_file import read_toml_file
from distrl.view.run_catalogue import run_state

RECENT = 100  # episodes
Settings = dict[str, Any]


def rate_table(rate: SuccessRate) -> dict[str, Any]:
    """Return a rate with its 95 % interval; all None if there was no episode."""
    if not rate.episodes:
        return {"rate": None, "low": None, "high": None, "episodes": 0}
    low, high = rate.interval
    return {"rate": rate.rate, "low": low, "high": high, "episodes": rate.episodes}


def run_summary(story: RunStory, now: float | None = None) -> dict[str, Any]:
    """Return the figures at the top of every page of a run."""
    run, account = story.run, story.account
    settings = settings_of(run)
    before, after = story.evaluation("before"), story.evaluation("after")
    judged = [each for each in story.episodes if each.judged]
    recent = judged[-RECENT:]
    last = {k: v for point in story.points[-40:] for k, v in point.figures.items()}
    minutes = story.seconds / 60.0
    return {
        "name": run.path.name,
        "dry_run": story.dry_run,
        "state": run_state(run, now or time.time()),
        "seconds": story.seconds,
        "training_seconds": account.training_seconds or story.seconds,
        "updates": max((point.updates for point in story.points), default=0),
        "version": int(last.get("version") or 0),
        "trajectories": len(story.episodes),
        "per_minute": len(story.episodes) / minutes if minutes else 0.0,
        "broken": sum(not each.judged for each in story.episodes),
        "devices": len(story.devices) or settings.get("devices.count", 0),
        "recent": rate_table(SuccessRate(sum(each.success for each in recent), len(recent))),
        "before": rate_table(before.rate) if before else None,
        "after": rate_table(after.rate) if after else None,
        "gain": _gain(story, before, after),
        "waiting": waiting_share(account.time.phones()),
        "phone_time": account.time.phones(),
        "learner_time": account.time.learner(),
        "staleness": account.staleness,
        "effective": account.effective_sample_share,
        "queue": last.get("queue"),
        "quarantined": last.get("quarantined"),
        "losses": len(story.losses),
        "model": settings.get("agent.model", ""),
        "algorithm": settings.get("learning.algorithm", ""),
        "seed": settings.get("run.seed"),
        "kept_evaluation": not run.config.exists(),
    }


def _gain(story: RunStory, before: EvaluationLine | None, after: EvaluationLine | None) -> str:
    if before is None or after is None:
        return ""
    gain = paired_gain(before.successes, after.successes)
    return gain_words(gain, weights_moved=story.account.weights_moved)


def settings_of(run: RunDirectory, environment: str = "") -> Settings:
    """Return every setting by its dotted name, with those of one environment of the run in place
    of the common ones; empty if they cannot be read.
    """
    try:
        tree = read_toml_file(run.config)
    except (OSError, ValueError):
        return {}
    found, own = dict(_flat(tree)), f"environments.{environment}."
    return found | {
        name.removeprefix(own): each for name, each in found.items() if name.startswith(own)
    }


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def differing_settings(runs: Mapping[str, Settings]) -> dict[str, dict[str, Any]]:
    """Return settings that differ, by setting, then by run; names and folders do not count."""
    names = dict.fromkeys(name for settings in runs.values() for name in settings)
    ignored = {"run.name", "run.directory"}
    return {
        name: {run: settings.get(name) for run, settings in runs.items()}
        for name in names
        if name not in ignored and len({repr(s.get(name)) for s in runs.values() if s}) > 1
    }


def versus(one: RunStory, other: RunStory) -> dict[str, Any]:
    """Compare the last evaluations of two runs on the tasks that both played."""
    first, second = (_last_evaluation(each) for each in (one, other))
    if first is None or second is None:
        return {"tasks": 0, "words": "one of them has no evaluation", "rows": []}
    gain = paired_gain(first.successes, second.successes)
    both = sorted(set(first.successes) & set(second.successes))
    return {
        "tasks": gain.tasks,
        "difference": gain.difference if gain.tasks else None,
        "interval": list(gain.interval) if gain.tasks else None,
        "significant": gain.significant,
        "words": gain_words(gain, weights_moved=True)
        if gain.tasks
        else "no task was played by both",
        "rows": [
            {"task": task, "one": first.successes[task], "other": second.successes[task]}
            for task in both
        ],
    }


def _last_evaluation(story: RunStory) -> EvaluationLine | None:
    return story.evaluation("after") or story.evaluation("during") or story.evaluation("before")


def stamp(run: RunDirectory) -> tuple[tuple[str, int, int], ...]:
    """Return sizes and times of the files of a story, to detect that it must be read again."""
    names = (
        run.metrics, run.episodes, run.evaluations, run.recordings, run.losses, run.device_faults,
        run.result, run.config, run.refusals, run.progress, run.card, run.phones,
    )  # fmt: skip
    found = []
    for path in names:
        try:
            stat = path.stat()
        except OSError:
            continue
        found.append((path.name, stat.st_size, stat.st_mtime_ns))
    return tuple(found)
