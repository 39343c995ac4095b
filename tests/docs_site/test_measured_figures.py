"""What README.md and docs/results.md say was measured is what the benchmarks have written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import distrl
from distrl.episodes.outcome import SuccessRate

ROOT = Path(__file__).parents[2]
FIGURES: dict[str, float] = json.loads(
    (ROOT / "benchmarks/results/quick-start.json").read_text("utf-8")
)
README = (ROOT / "README.md").read_text("utf-8")
SEEDS = [int(name.split("_")[1]) for name in FIGURES if re.fullmatch(r"seed_\d+_gain", name)]


def row_of(figures: Mapping[str, float], seed: int, episodes: int) -> list[str]:
    """The cells of a seed's row as the README writes them; counts only where they were measured."""
    own = {
        name.removeprefix(f"seed_{seed}_"): value
        for name, value in figures.items()
        if name.startswith(f"seed_{seed}_")
    }
    low, high = (f"{100 * own[f'gain_{end}']:+.0f}" for end in ("low", "high"))
    counts = [f"{own[n]:.0f} {n}" for n in ("trajectories", "updates") if n in own]
    times = f"{minutes(own['training_s'])} ({minutes(own['wall_s'])}"
    return [
        *(rate_words(own, stage, episodes) for stage in ("before", "after")),
        f"{100 * own['gain']:+.0f} points [{low}, {high}]",
        *counts,
        times,
    ]


def rate_words(own: Mapping[str, float], stage: str, episodes: int) -> str:
    rate = own[stage]
    low, high = SuccessRate(round(rate * episodes), episodes).interval
    low, high = own.get(f"{stage}_low", low), own.get(f"{stage}_high", high)
    return f"{100 * rate:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def minutes(seconds: float) -> str:
    return "{}:{:02}".format(*divmod(round(seconds), 60))


def readme_rows() -> tuple[dict[int, str], int]:
    """The table's rows by seed, and how many tasks it says they were measured on."""
    [heading] = re.findall(r"^\| success on the same (\d+) unseen tasks.*$", README, re.M)
    rows = re.findall(r"^\| seed (\d+)[ ,|].*$", README, re.M)
    lines = [line for line in README.splitlines() if line.startswith("| seed ")]
    return dict(zip(map(int, rows), lines, strict=True)), int(heading)


def test_the_readme_has_every_seed_that_was_measured() -> None:
    assert sorted(readme_rows()[0]) == sorted(SEEDS)
    assert len(SEEDS) == FIGURES["seeds"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_of_the_readme_is_what_was_measured(seed: int) -> None:
    rows, episodes = readme_rows()
    for cell in row_of(FIGURES, seed, episodes):
        assert cell in rows[seed]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_page_of_results_has_the_same_gains(seed: int) -> None:
    page = (ROOT / "docs/results.md").read_text("utf-8")
    [line] = [
        each for each in page.splitlines() if each.startswith("| Does the quick start learn?")
    ]
    gain, low, high = (
        f"{100 * FIGURES[f'seed_{seed}_{name}']:+.0f}" for name in ("gain", "gain_low", "gain_high")
    )
    assert f"{gain} [{low}, {high}]" in line


PROMISING = (
    "README.md", "docs/index.md", "docs/start/laptop.md", "src/distrl/configs/quick_start.toml",
    "examples/train.py",
)  # fmt: skip
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@pytest.mark.parametrize("page", PROMISING)
def test_the_quick_start_takes_the_minutes_that_pages_say(page: str) -> None:
    [said] = re.findall(r"about (\w+) minutes", (ROOT / page).read_text("utf-8"), re.IGNORECASE)
    taken = [round(FIGURES[f"seed_{seed}_wall_s"] / 60) for seed in SEEDS]
    assert taken == [NUMBERS.index(said)] * len(SEEDS)


def test_the_size_of_the_api_is_what_is_exported_and_what_was_measured() -> None:
    figures = json.loads((ROOT / "benchmarks/results/api.json").read_text("utf-8"))
    assert figures["names"] == len(distrl.__all__)
    row = "{import_ms:.0f} ms; it exports {names} names, and the shortest training script has "
    said = f"{row}{{shortest_script_lines}} lines |".format(**figures)
    assert said in (ROOT / "docs/results.md").read_text("utf-8")


ASKED = [  # of docs/results.md: how a row begins, the file, and its figures as they are written
    (
        "the starter decides",
        "policy",
        ["{gpu_decisions_per_s_starter_b256:,.0f}, {gpu_limit_share_starter_b256:.0%} of what"],
    ),
    (
        "the starter learns",
        "learner",
        [
            "{gpu_learner_turns_per_s_starter_known:,.0f} of known",
            "{gpu_learner_turns_per_s_starter:,.0f} where",
        ],
    ),
    (
        "a whole run on a GPU, {gpu_run_phones:.0f} phones",
        "gpu-run",
        [
            "{gpu_run_decisions_per_s:,.0f} and {gpu_run_trained_turns_per_s:,.0f}",
            "decides {gpu_run_deciding_share:.0%}",
        ],
    ),
    (
        "Qwen2.5-VL 3B decides",
        "policy",
        [
            "{gpu_decisions_per_s_qwen_3b_b128:.1f};",
            "{gpu_decisions_per_s_qwen_3b_compiled_b128:.1f} with",
            "use {gpu_bandwidth_share_qwen_3b_b32:.0%} of its bandwidth",
        ],
    ),
    (
        "one version of {broadcast_mb:.0f} MB to {broadcast_collectors:.0f} collectors",
        "cluster",
        ["{broadcast_s:.2f} s"],
    ),
    (
        "10,000 simulated phones",
        "phones",
        [
            "{phones_10000_gb:.1f} GB, {phones_10000_threads:.0f} threads, ",
            "{phones_10000_steps_per_s:.1f} decisions/s",
            "all ready after {phones_10000_ready_s:.0f} s",
        ],
    ),
]


@pytest.mark.parametrize(("row", "name", "cells"), ASKED, ids=[row for row, _, _ in ASKED])
def test_what_was_got_is_what_was_measured(row: str, name: str, cells: list[str]) -> None:
    figures = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text("utf-8"))
    page = (ROOT / "docs/results.md").read_text("utf-8")
    [line] = [each for each in page.splitlines() if each.startswith(f"| {row.format(**figures)}")]
    for cell in cells:
        assert cell.format(**figures).replace("%", " %") in line


def test_another_figure_is_noticed() -> None:
    rows, episodes = readme_rows()
    for name in ("after", "gain_low", "wall_s"):
        other = FIGURES | {f"seed_0_{name}": FIGURES[f"seed_0_{name}"] * 1.1}
        assert not all(cell in rows[0] for cell in row_of(other, 0, episodes)), name
    counted = FIGURES | {"seed_0_trajectories": 1, "seed_0_updates": 2}
    assert "1 trajectories" in row_of(counted, 0, episodes)
