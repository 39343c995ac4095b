"""The paper's table: arms that load, and figures on runs worked by hand."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.paper import jobs_of
from benchmarks.paper_arms import (
    ARMS,
    MAIN_ARMS,
    SMALL_CONFIG,
    TEMPLATES,
    Job,
    choices_of,
    settings_of,
)
from benchmarks.paper_chart import FAMILIES, LABELS, chart, committed_curves
from benchmarks.paper_figures import curves_of, figures_of, table_of, times_of_curves
from benchmarks.paper_runs import Played, check_same, played, result_of, written
from benchmarks.paper_tuning import read_tuned, tune
from benchmarks.results_file import RESULTS

from benchmarks import paper, results_file
from distrl.config.config_file import config_path
from distrl.config.training_config import load_config
from distrl.json_lines import LineLog
from distrl.runs.run_records import EvaluationLine, Point, Stage, TemplateCount

GIVEN = argparse.Namespace(
    seconds=6000.0, speed=20.0, device="cpu", collectors=4, set=["run.updates=3"], small=False
)
SMALL = argparse.Namespace(**(vars(GIVEN) | {"small": True}))


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_is_a_valid_run(arm: str, tmp_path: Path) -> None:
    settings = settings_of(Job("shopping", arm, 7), tmp_path, GIVEN)
    config = load_config(None, [f"{name}={value}" for name, value in settings.items()])
    assert (config.run.seed, config.run.updates, config.run.minutes) == (7, 3, 5.0)
    assert config.tasks.families == ("shopping",)
    assert (config.tasks.split, config.evaluation.split) == (
        "undemonstrated",
        "undemonstrated_test",
    )
    assert config.collection.mode == ("synchronous" if "rounds" in arm else "asynchronous")


def test_templates_are_those_that_the_starter_does_now_and_then() -> None:
    measured = json.loads((RESULTS / "undemonstrated-start.json").read_text("utf-8"))
    rates = {name: rate for name, rate in measured.items() if "." in name}
    chosen = {*TEMPLATES["general"], *TEMPLATES["shopping"]}
    assert chosen < rates.keys()
    others = sum(rate for name, rate in rates.items() if name not in chosen)
    assert others < 0.2 * sum(rates.values())  # each measurement has a lucky one or two


@pytest.mark.parametrize("arm", ARMS)
def test_every_small_arm_is_the_quick_start_on_slow_phones(arm: str, tmp_path: Path) -> None:
    settings = settings_of(Job("general", arm, 7), tmp_path, SMALL)
    words = [f"{name}={value}" for name, value in settings.items()]
    config = load_config(config_path(SMALL_CONFIG), words)
    assert config.tasks.split == "undemonstrated"
    assert len(config.tasks.template_names) == 3
    assert config.evaluation.split == "undemonstrated_test"
    assert config.pacing.samples_per_insert == 5.0
    assert config.devices.latency == "paper_emulator"
    assert config.devices.count == (8 if "_8_" in arm else 32)
    assert config.learning.step.learning_rate == 1e-4


def test_the_main_pair_has_seeds_of_its_own() -> None:
    given = argparse.Namespace(
        seeds=[0, 1, 2], seeds_others=[1], families=["general"], arms=[*ARMS], tuned=None
    )
    jobs = jobs_of(given)
    assert {job.arm for job in jobs if job.seed != 1} == set(MAIN_ARMS)
    assert {job.arm for job in jobs if job.seed == 1} == set(ARMS)
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)


# Runs worked by hand -----------------------------------------------------------------------------


def run(after: float, per_minute: float, *curve: tuple[float, float]) -> Played:
    return Played(0.4, after, ((0.0, 0.4), *curve), per_minute, 6.0, 2.0, 0.9)


RUNS = {
    Job("general", "distrl", 1): run(0.75, 6.0, (1000.0, 0.55), (2000.0, 0.7), (6000.0, 0.75)),
    Job("general", "distrl", 2): run(0.72, 6.0, (1000.0, 0.61), (6000.0, 0.72)),
    Job("general", "digirl_32_rounds", 0): run(0.9, 2.5, (6000.0, 0.9)),  # has no partner
    Job("general", "digirl_32_rounds", 1): run(0.6, 2.5, (3000.0, 0.5), (6000.0, 0.6)),
    Job("general", "digirl_32_rounds", 2): run(0.6, 2.5, (3000.0, 0.5), (6000.0, 0.6)),
}


def test_figures_are_of_pairs_of_one_seed() -> None:
    figures = figures_of(RUNS)
    assert figures["collection_ratio"] == pytest.approx(2.4)
    assert figures["time_ratio_general_level"] == pytest.approx(0.6)
    assert figures["time_ratio_general"] == pytest.approx(6000.0 / 1000.0)
    # At 0.6: seed 1 at 1,333 s, seed 2 at 952 s, theirs (0.4, 0.5, 0.6) at the end.
    by_seed = (6000.0 / (1000.0 + 1000.0 / 3.0) * 6000.0 / (1000.0 / 0.21 * 0.2)) ** 0.5
    assert figures["time_ratio_by_seed_general"] == pytest.approx(by_seed)
    assert figures["time_ratio_by_seed_general_low"] < by_seed
    assert figures["relative_gain_general"] == pytest.approx((1.25 * 1.2) ** 0.5 - 1.0)
    assert figures["relative_gain_general_low"] < 0.225 < figures["relative_gain_general_high"]
    assert figures["general_digirl_32_rounds_seeds"] == 3.0
    against = "general_digirl_32_rounds_against_distrl"
    assert figures[against] == pytest.approx(-0.135)  # -0.15 and -0.12, seed 0 has no partner
    assert figures[f"{against}_low"] < -0.135 < figures[f"{against}_high"]
    assert figures["general_start_success"] == 0.4
    assert figures["general_distrl_seed_2_success"] == 0.72
    assert figures["general_distrl_seed_2_before"] == 0.4
    assert figures["general_distrl_seed_2_per_minute"] == 6.0


def test_the_time_to_a_level_is_the_whole_time_where_a_run_never_came_to_it() -> None:
    figures = figures_of(RUNS)
    assert figures["general_distrl_seconds_to_60"] == 1500.0
    assert figures["general_distrl_seconds_to_60_not_reached"] == 0.0
    assert figures["general_digirl_32_rounds_seconds_to_70"] == 6000.0
    assert figures["general_digirl_32_rounds_seconds_to_70_not_reached"] == 2.0
    assert "general_distrl_seconds_to_40" not in figures  # where the start is


def test_a_level_that_the_first_look_has_is_not_one_that_was_never_reached() -> None:
    # It stands at 0.4 on all tasks, and at 0.5 on those of the looks.
    played = Played(0.4, 0.6, ((0.0, 0.5), (6000.0, 0.6)), 6.0, 6.0, 2.0, 0.9)
    assert figures_of({Job("general", "distrl", 0): played})["general_distrl_seconds_to_50"] == 0.0


def test_the_mean_over_time_begins_at_the_start() -> None:
    # From 0.4 to 0.6 within 1,000 s, then to 0.8 within 3,000: 0.5 and 0.7, one to three.
    assert run(0.8, 6.0, (1000.0, 0.6), (4000.0, 0.8)).success_over_time == pytest.approx(0.65)


def test_training_episodes_tell_as_well_when_a_level_was_reached() -> None:
    ours = replace(run(0.8, 6.0, (1200.0, 0.8)), training=((300.0, 0.4), (900.0, 0.8)))
    theirs = replace(run(0.6, 2.5, (1200.0, 0.6)), training=((300.0, 0.4), (1200.0, 0.6)))
    found = figures_of(
        {Job("general", "distrl", 0): ours, Job("general", "digirl_32_rounds", 0): theirs}
    )
    # They end at 0.6, at 1,200 s; ours was there at 600 s.
    assert found["training_time_ratio_general_level"] == pytest.approx(0.6)
    assert found["training_time_ratio_general"] == pytest.approx(2.0)


def with_tasks(after: dict[str, bool]) -> Played:
    rate = sum(after.values()) / len(after)
    return Played(0.0, rate, ((60.0, rate),), 6.0, 6.0, 2.0, 0.9, {}, after)


def test_arms_are_compared_task_by_task() -> None:
    ours = with_tasks({"a": True, "b": True, "c": True, "d": False})
    theirs = with_tasks({"a": True, "b": False, "c": True, "d": False})
    figures = figures_of(
        {Job("general", "distrl", 0): ours, Job("general", "without_dper", 0): theirs}
    )
    # Differences of 0, -1, 0, 0: mean -0.25, deviation 0.5, over the root of four tasks.
    name = "general_without_dper_against_distrl"
    assert figures[name] == -0.25
    assert figures[f"{name}_tasks_low"] == pytest.approx(-0.25 - 1.96 * 0.25, abs=1e-4)
    assert figures[f"{name}_tasks_high"] == pytest.approx(-0.25 + 1.96 * 0.25, abs=1e-4)


def test_curves_begin_before_training() -> None:
    assert curves_of(RUNS)["general_distrl_seed_2"] == [[0, 0.4], [1000, 0.61], [6000, 0.72]]


def test_the_table_has_a_row_for_each_arm_that_was_run() -> None:
    rows = table_of(figures_of(RUNS), "general").splitlines()
    assert [row.split("|")[1].strip() for row in rows[2:]] == [
        "start",
        "digirl_32_rounds",
        "distrl",
    ]
    assert len({row.count("|") for row in rows}) == 1
    assert "-13.5 [" in rows[3]


def test_the_chart_has_bands_where_there_are_seeds() -> None:
    [digirl, distrl] = chart(RUNS, "general", ["digirl_32_rounds", "distrl"]).lines
    assert [point.mean for point in distrl.points][::3] == pytest.approx([0.4, 0.68325, 0.735])
    assert distrl.points[0].low == distrl.points[0].high == 0.4
    assert digirl.points[-1].low < 0.7 < digirl.points[-1].high
    assert (digirl.label, distrl.label) == ("DigiRL in rounds", "DistRL")
    picture = chart(RUNS, "general", ["digirl_32_rounds", "distrl"]).draw()
    colours = {colour: count for count, colour in picture.getcolors(2**24) or []}
    assert colours[(249, 224, 223)] > 1_000  # 38/255 of #d93025 on white


def test_the_committed_curves_are_those_of_every_seed() -> None:
    assert set(LABELS) == set(ARMS)
    figures = json.loads((RESULTS / "paper.json").read_text("utf-8"))
    for family in FAMILIES:
        found = committed_curves(RESULTS / "paper-curves.json", family, ARMS)
        seeds = {arm: figures.get(f"{family}_{arm}_seeds", 0.0) for arm in ARMS}
        assert {arm: len(several) for arm, several in found.items()} == seeds
        assert all(seeds[arm] for arm in MAIN_ARMS)
        assert all(curve[0][0] == 0.0 for several in found.values() for curve in several)


def test_the_committed_ratios_by_seed_are_those_of_the_curves() -> None:
    figures = json.loads((RESULTS / "paper.json").read_text("utf-8"))
    curves = json.loads((RESULTS / "paper-curves.json").read_text("utf-8"))
    found = times_of_curves({name: curve for name, curve in curves.items() if "_seed_" in name})
    assert len(found) == 4 * 3  # two families, by looks and by training episodes
    assert {name: figures[name] for name in found} == pytest.approx(found, rel=1e-3)


def test_a_report_leaves_who_measured_the_curves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_file, "RESULTS", tmp_path)
    for name in ("paper-small", "paper-small-curves"):
        results_file.write_results(name, {"measured": 1.0}, "make bench-paper-small")
    write_run(tmp_path / "keep" / "general-distrl-0", after=0.75)
    words = ["--small", "--report", "--arms", "distrl", "--seeds", "0"]
    monkeypatch.setattr(sys, "argv", ["paper", *words, "--keep", str(tmp_path / "keep")])
    paper.main()
    for name in ("paper-small", "paper-small-curves"):
        kept = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
        assert kept["command"] == "make bench-paper-small"
        assert {"measured", "report_date"} < kept.keys()
    assert kept["general_distrl_seed_0"][-1] == [600.0, 0.75]


# Folders of runs ---------------------------------------------------------------------------------


def test_a_run_without_a_result_is_none(tmp_path: Path) -> None:
    (tmp_path / "paper-1").mkdir()
    assert result_of(tmp_path) is None
    assert played(tmp_path) is None


def look(stage: Stage, seconds: float, successes: int) -> EvaluationLine:
    done = {f"task-{n}": n < successes for n in range(4)}
    return EvaluationLine(
        stage,
        "undemonstrated_test",
        0,
        0,
        seconds,
        (TemplateCount("template", successes, 4),),
        done,
    )


def write_run(folder: Path, after: float) -> None:
    """A run whose training begins when it is 30 s old; the learner's steps take 6 s of its 30."""
    directory = folder / "paper-1"
    directory.mkdir(parents=True)
    (directory / "config.toml").write_text("[devices]\nclock_speed = 20.0\n")
    with LineLog.open(directory / "evaluations.jsonl") as evaluations:
        evaluations.append(look("before", 5.0, 1))
        evaluations.append(look("during", 40.0, 2))
        evaluations.append(look("after", 70.0, 3))
    with LineLog.open(directory / "metrics.jsonl") as metrics:
        metrics.append(Point("collection", 0, 30.0, {"training_seconds": 0.0}))
        spent = {"learner_seconds/update": 6.0, "learner_seconds/waiting": 24.0}
        metrics.append(Point("collection", 3, 60.0, {"training_seconds": 30.0, **spent}))
    result = {
        "success_before": {"rate": 0.25},
        "success_after": {"rate": after},
        "training_s": 30.0,
        "trajectories": 100,
        "updates": 3,
        "staleness_mean": 2.0,
        "effective_sample_share": 0.9,
    }
    (directory / "result.json").write_text(json.dumps(result))


def test_looks_and_the_end_are_on_one_clock(tmp_path: Path) -> None:
    write_run(tmp_path, after=0.75)
    found = played(tmp_path)
    assert found is not None
    assert found.curve == ((0.0, 0.25), (200.0, 0.5), (600.0, 0.75))
    assert found.step_seconds == pytest.approx(40.0)
    assert found.per_minute == pytest.approx(10.0)
    assert (sum(found.done_before.values()), sum(found.done_after.values())) == (1, 3)


def test_a_run_of_other_settings_is_not_taken_for_this_one(tmp_path: Path) -> None:
    settings = settings_of(Job("general", "distrl", 7), tmp_path, GIVEN)
    (tmp_path / "settings").write_text(written(settings))
    check_same(tmp_path, settings | {"run.directory": "elsewhere"})
    with pytest.raises(SystemExit, match=r"run\.minutes=9"):
        check_same(tmp_path, settings | {"run.minutes": 9})


# Tuning ------------------------------------------------------------------------------------------


def test_tuning_leaves_what_makes_an_arm() -> None:
    assert "learning.a_ride.retrace_lambda" in choices_of("distrl")
    assert "learning.a_ride.retrace_lambda" not in choices_of("without_retrace")
    for arm, own in ARMS.items():
        assert "learning.step.learning_rate" in choices_of(arm)
        assert not choices_of(arm).keys() & own.keys()


@pytest.mark.parametrize("arm", ARMS)
def test_what_is_not_tuned_is_the_first_of_each_choice(arm: str, tmp_path: Path) -> None:
    first = tuple((name, values[0]) for name, values in choices_of(arm).items())
    for given, path in ((GIVEN, None), (SMALL, config_path(SMALL_CONFIG))):
        untuned, tuned = (
            load_config(path, [f"{name}={value}" for name, value in settings.items()])
            for job in (Job("general", arm, 7), Job("general", arm, 7, first))
            for settings in [settings_of(job, tmp_path, given)]
        )
        assert tuned == untuned


def test_settings_are_chosen_one_after_the_other(tmp_path: Path) -> None:
    names = list(choices_of("distrl"))

    def tried(after: float, *values: object) -> None:
        tuned = tuple(zip(names, values, strict=True))
        for seed, more in ((100, -0.1), (101, 0.1)):
            job = Job("general", "distrl", seed, tuned)
            write_run(job.tuning_folder(tmp_path), after + more)

    tried(0.5, 1e-4, "filtered", 0.95)
    tried(0.6, 3e-4, "filtered", 0.95)  # the better rate
    tried(0.6, 3e-4, "signed", 0.95)  # no better: the first stays
    tried(0.7, 3e-4, "filtered", 0.5)
    given = argparse.Namespace(
        **vars(SMALL) | {"arms": ["distrl"], "families": ["general"], "tune_seeds": [100, 101]},
        keep=tmp_path,
        report=True,
    )
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps({"arms": {"digirl_async": {"learning.digirl.decay": 0.9}}}))
    tune(given, path)
    chosen = read_tuned(path, ["distrl", "digirl_async"])
    assert chosen["distrl"] == tuple(zip(names, (3e-4, "filtered", 0.5), strict=True))
    assert chosen["digirl_async"] == (("learning.digirl.decay", 0.9),)
    assert len(json.loads(path.read_text())["tried"]["distrl"]) == 4
    with pytest.raises(SystemExit, match="as_printed"):
        read_tuned(path, ["distrl", "as_printed"])


def test_the_table_takes_what_tuning_has_chosen(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps({"arms": {"distrl": {"learning.step.learning_rate": 3e-4}}}))
    given = argparse.Namespace(
        seeds=[0], seeds_others=[0], families=["general"], arms=["distrl"], tuned=path
    )
    [job] = jobs_of(given)
    settings = settings_of(job, tmp_path, SMALL)
    words = [f"{name}={value}" for name, value in settings.items()]
    assert load_config(config_path(SMALL_CONFIG), words).learning.step.learning_rate == 3e-4
