"""A damaged file of a run is made good, reported or refused, never read as something else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.damage import DamagedRuns, damages
from benchmarks.whole_run import whole_run


def test_every_way_of_damage_changes_the_file() -> None:
    data = b'{"a":1}\n{"a":2}\n'
    ways = damages(data, random.Random(0), flips=3)
    assert {"cut to 0", "random bytes", "removed"} <= ways.keys()
    assert [way for way, content in ways.items() if content == data] == []


@pytest.mark.slow
def test_no_damage_of_the_small_files_goes_unnoticed(tmp_path: Path) -> None:
    runs = DamagedRuns(tmp_path / "copies", whole_run(tmp_path))
    names = (
        "run/config.toml", "run/episodes.jsonl", "run/progress.json", "run/policy/policy.json",
        "run/result.json", "run/refusals.jsonl", "run/judge_cache.jsonl", "run/join/members.json",
        "run/join/token", "spool/member", "spool/spool.sqlite",
    )  # fmt: skip
    outcomes = {}
    for name in names:
        for way, content in damages(runs.content(name), random.Random(0), flips=1).items():
            outcomes[name, way] = runs.case(name, way, content)
    assert [case for case in outcomes.values() if case.outcome == "silent"] == []
    assert outcomes["run/config.toml", "removed"].outcome == "refused"
    assert outcomes["run/episodes.jsonl", "cut to 0"].outcome == "reported"
    assert outcomes["run/progress.json", "removed"].outcome == "repaired"
    assert outcomes["run/result.json", "removed"].outcome == "reported"
    assert outcomes["run/join/members.json", "removed"].outcome == "reported"
    assert outcomes["spool/spool.sqlite", "cut to 0"].outcome == "refused"
