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


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> DamagedRuns:
    folder = tmp_path_factory.mktemp("damage")
    return DamagedRuns(folder / "copies", whole_run(folder))


def few_damages(data: bytes) -> dict[str, bytes | None]:
    """One of each kind that a reader can tell apart; `make chaos` does all, to all files."""
    middle = len(data) // 2
    wanted = (f"bit flipped at {middle}", "cut to 0", f"cut to {middle}", "removed")
    return {
        way: content
        for way, content in damages(data, random.Random(0), flips=0).items()
        if way in wanted or way.endswith("without the last line")
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "way", "outcome"),
    [
        ("run/config.toml", "removed", "refused"),
        ("run/episodes.jsonl", "cut to 0", "reported"),
        ("run/progress.json", "removed", "repaired"),
        ("run/policy/policy.json", "", ""),
        ("run/result.json", "removed", "reported"),
        ("run/refusals.jsonl", "", ""),
        ("run/judge_cache.jsonl", "", ""),
        ("run/join/members.json", "removed", "reported"),
        ("run/join/token", "", ""),
        ("spool/member", "", ""),
        ("spool/spool.sqlite", "cut to 0", "refused"),
    ],
)
def test_no_damage_of_the_small_files_goes_unnoticed(
    runs: DamagedRuns, name: str, way: str, outcome: str
) -> None:
    found = {
        each: runs.case(name, each, content)
        for each, content in few_damages(runs.content(name)).items()
    }
    assert len(found) >= 4
    assert [case for case in found.values() if case.outcome == "silent"] == []
    if way:
        assert found[way].outcome == outcome
