"""A damaged file of a run is made good, reported or refused, never read as something else."""

from __future__ import annotations

import random

import pytest
from benchmarks.damage import DamagedRuns, damages
from benchmarks.whole_run import whole_run


def test_every_way_of_damage_changes_the_file() -> None:
    data = b'{"a":1}\n{"a":2}\n'
    ways = damages(data, random.Random(0), flips=3)
    assert {"cut to 0", "random bytes", "removed"} <= ways.keys()
    assert [way for way, content in ways.items() if content == data] == []


OUTCOMES: dict[str, dict[str, str]] = {  # of some ways; none of any file is silent
    "run/config.toml": {"removed": "refused"},
    "run/episodes.jsonl": {"cut to 0": "reported"},
    "run/progress.json": {"removed": "repaired"},
    "run/policy/policy.json": {},
    "run/result.json": {"removed": "reported"},
    "run/refusals.jsonl": {},
    "run/judge_cache.jsonl": {},
    "run/join/members.json": {"removed": "reported"},
    "run/join/token": {},
    "spool/member": {},
    "spool/spool.sqlite": {"cut to 0": "refused"},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> DamagedRuns:
    folder = tmp_path_factory.mktemp("damage")
    return DamagedRuns(folder / "copies", whole_run(folder))


def some_ways(content: bytes) -> dict[str, bytes | None]:
    """One of each kind: `make chaos` tries all of them on every file."""
    half = len(content) // 2
    kept = {"cut to 0", f"cut to {half}", f"bit flipped at {half}", "random bytes", "removed"}
    ways = damages(content, random.Random(0), flips=0)
    return {way: made for way, made in ways.items() if way in kept or "last line" in way}


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTCOMES)
def test_no_damage_of_a_small_file_goes_unnoticed(runs: DamagedRuns, name: str) -> None:
    ways = some_ways(runs.content(name))
    found = {way: runs.case(name, way, content) for way, content in ways.items()}
    assert [case for case in found.values() if case.outcome == "silent"] == []
    expected = OUTCOMES[name]
    assert {way: found[way].outcome for way in expected} == expected
