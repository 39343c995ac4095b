"""One policy over several environments in one run: it plays, learns, measures and tells each."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from rich.console import Console
from tests.chat.chat_protocol import Reply, serving
from tests.devices.adb.served_phones import served_phones
from tests.engine.aitw_files import aitw_settings
from tests.engine.test_one_process import assert_equal_trees, figures, learned
from tests.engine.test_vlm_judged_runs import by_the_question
from tests.engine.tiny_runs import mixed_config

from distrl.cli.train import new_directory, run_command
from distrl.config.training_config import TrainingConfig
from distrl.engine.adb_wiring import lease_phones
from distrl.engine.device_wiring import build_device_pool
from distrl.engine.local.local_engine import LocalEngine, tasks_per_round
from distrl.engine.run.resume import corpus
from distrl.engine.run.stop_request import StopRequested
from distrl.errors import UnusableModel
from distrl.json_lines import read_lines
from distrl.records import Ending
from distrl.reporting.run_story import read_story
from distrl.runs.checked_json import CHECKSUM, is_as_written
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, EvaluationLine, Point, Recording
from distrl.view.curves import run_curves

QUIET = Console(quiet=True)
ONE_PROCESS = "collection.mode=one_process"
TEMPLATES = {"small": "clock.turn_off_alarm", "tall": "clock.delete_alarm"}
SIZES = {"small": (360, 720), "tall": (400, 800)}


def train(config: TrainingConfig) -> RunDirectory:
    run = new_directory(config)
    LocalEngine(config, run, QUIET).train()
    return run


def train_until_both_have_played(config: TrainingConfig) -> RunDirectory:
    """However fast one of them is: stopped once both have delivered, then resumed to its end."""
    run = new_directory(config)

    def have_played(_: Point) -> bool:
        counts = Counter(line.environment for line in read_lines(run.episodes, EpisodeLine))
        return all(counts[name] >= 3 for name in config.environments)

    with pytest.raises(StopRequested):
        LocalEngine(config, run, QUIET, have_played).train()
    one_more = f"run.updates={learned(run)['updates'] + 1}"
    assert run_command(QUIET, None, [one_more], run.path, dry_run=False) == 0
    return run


def assert_trained_on_both(run: RunDirectory) -> None:
    """Every trajectory says where it was played, and the learner has drawn some of each."""
    played = list(corpus(str(run.path)))
    assert {each.environment for each in played} == set(TEMPLATES)
    for each in played:
        assert each.task.template == TEMPLATES[each.environment]
        assert {(s.width, s.height) for s in each.screens} == {SIZES[each.environment]}
    lines = {line.id: line for line in read_lines(run.episodes, EpisodeLine)}
    assert {each.id: each.environment for each in played} == {
        name: line.environment for name, line in lines.items()
    }
    for line in lines.values():
        assert line.device.rpartition("-")[0] in (line.environment, "")
    held = {lines[each].environment for each in learned(run)["replay"]["ids"]}
    assert held == set(TEMPLATES)


def assert_told_apart(run: RunDirectory, episodes: int) -> None:
    """Success by environment: in evaluations, the result, metrics, the report and the page."""
    before, after = read_lines(run.evaluations, EvaluationLine)
    for line in (before, after):
        assert line.environments == ("small", "tall")
        assert line.rate.episodes == 2 * episodes
        assert {name.partition("/")[0] for name in line.successes} == set(TEMPLATES)
        assert line.in_environment("tall").templates[0].template == TEMPLATES["tall"]
    assert before.successes.keys() == after.successes.keys()  # paired by task within each
    result = json.loads(run.result.read_text())
    assert result["success_before"]["episodes"] == result["gain"]["tasks"] == 2 * episodes
    assert list(result["success_by_environment"]) == ["small", "tall"]
    for each in result["success_by_environment"].values():
        assert each["before"]["episodes"] == each["after"]["episodes"] == episodes
        assert each["gain"]["tasks"] == episodes
    points = [each.figures for each in read_points(run.metrics) if each.series == "collection"]
    assert {"success_rate/small", "success_rate/tall"} <= points[-1].keys()
    page = run.report.read_text("utf-8")
    assert "tall · clock.delete_alarm" in page
    assert "small: 2 simulated devices · tall: 1 simulated devices" in page
    assert "trajectories of tall" in page
    assert {each.environment for each in read_lines(run.recordings, Recording)} == set(TEMPLATES)
    curves = run_curves(read_story(run))
    assert [each["family"] for each in curves["families"]] == ["small", "tall"]


def test_a_run_in_one_process_trains_on_both_and_tells_them_apart(
    tmp_path: Path, model: Path
) -> None:
    words = ["run.updates=2", "reporting.recordings=4"]
    run = train(mixed_config(tmp_path, model, ONE_PROCESS, *words))
    assert_trained_on_both(run)
    assert_told_apart(run, episodes=1)
    assert "--on" in run.report.read_text("utf-8")  # how to measure it again


@pytest.mark.slow
def test_the_same_settings_give_the_same_run_and_so_does_a_resume(
    tmp_path: Path, model: Path
) -> None:
    words = [ONE_PROCESS, "run.updates=3", "evaluation.before=0", "evaluation.after=0"]
    runs = [train(mixed_config(tmp_path, model, *words)) for _ in range(2)]
    assert_equal_trees(learned(runs[0]), learned(runs[1]))
    for run in runs:
        assert run_command(QUIET, None, ["run.updates=6"], run.path, dry_run=False) == 0
    assert_equal_trees(learned(runs[0]), learned(runs[1]))
    assert figures(runs[0]) == figures(runs[1])
    assert [number for number, _ in figures(runs[0])] == list(range(1, 7))
    ids = [line.id for line in read_lines(runs[0].episodes, EpisodeLine)]
    assert len(ids) == len(set(ids))
    tasks = [line.task for line in read_lines(runs[0].episodes, EpisodeLine)]
    assert len(tasks) == len(set(tasks))  # each collector goes on where it was


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["asynchronous", "synchronous"])
def test_collectors_of_two_environments_feed_one_learner(
    tmp_path: Path, model: Path, mode: str
) -> None:
    words = [f"collection.mode={mode}", "reporting.recordings=4"]
    run = train_until_both_have_played(mixed_config(tmp_path, model, *words))
    assert_trained_on_both(run)
    assert_told_apart(run, episodes=1)


def test_in_a_round_each_device_has_a_task(tmp_path: Path) -> None:
    words = ["environments.small.collectors=2", "environments.tall.devices.count=5"]
    assert tasks_per_round(mixed_config(tmp_path, tmp_path, *words)) == [1, 1, 5]


@pytest.mark.slow
def test_a_resumed_run_needs_no_file_but_its_own(tmp_path: Path, model: Path) -> None:
    words = ["run.updates=2", "evaluation.before=0", "evaluation.after=0"]
    run = train(mixed_config(tmp_path, model, *words))
    copy = RunDirectory(tmp_path / "elsewhere")
    shutil.move(run.path, copy.path)
    for name in ("small", "tall", "mixed"):
        (tmp_path / f"{name}.toml").unlink()
    assert run_command(QUIET, None, ["run.updates=4"], copy.path, dry_run=False) == 0
    assert json.loads(copy.result.read_text())["updates"] >= 4


def test_a_screen_that_the_model_cannot_take_is_refused_with_its_environment(
    tmp_path: Path, model: Path
) -> None:
    wide = "environments.tall.devices.screen=1600x400@1"
    with pytest.raises(UnusableModel, match="the screen of a simulated phone of tall"):
        train(mixed_config(tmp_path, model, ONE_PROCESS, "run.updates=1", wide))


@pytest.mark.slow
def test_each_environment_has_its_own_judge(tmp_path: Path, model: Path) -> None:
    """Facts in one; a model that is asked after the episode in the other, which is not measured."""
    with serving(Reply(by_the_question)) as (url, _):
        vlm = ["kind=vlm", f"server={url}", "model=judge", "tries=1"]
        own = [f"environments.tall.judge.{each}" for each in vlm]
        tasks = [each for each in aitw_settings(tmp_path) if each.startswith("tasks.")]
        own += [f"environments.tall.{each}" for each in tasks]
        words = ["run.updates=3", "environments.tall.measured=false", *own]
        words += ["environments.tall.tasks.curriculum=uniform"]
        words += ["environments.tall.stop_on_success=false"]
        run = train(mixed_config(tmp_path, model, ONE_PROCESS, *words))
    judges: dict[str, set[str]] = {"small": set(), "tall": set()}
    for each in corpus(str(run.path)):
        if each.verdict is not None:
            judges[each.environment].add(each.verdict.judge.partition("/")[0])
    assert judges == {"small": {"facts"}, "tall": {"vlm"}}
    [before, _] = read_lines(run.evaluations, EvaluationLine)
    assert before.environments == ("small",)
    assert "distrl collect" in run.report.read_text("utf-8")  # `evaluate` has no such verdicts


# Other devices -----------------------------------------------------------------------------------


def test_each_environment_on_adb_has_the_phones_that_it_names(tmp_path: Path, model: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    run.path.mkdir()
    with served_phones(3) as phones, ExitStack() as opened:
        first, second, third = phones.phones.addresses
        words = [
            f"environments.small.devices={{kind='adb', count=2, serials=['{third}', '{first}']}}",
            f"environments.tall.devices={{kind='adb', count=1, serials=['{second}']}}",
        ]
        ports = [f"environments.{n}.devices.android.adb_port={phones.adb.port}" for n in TEMPLATES]
        config = mixed_config(tmp_path, model, *words, *ports)
        others: list[str] = []
        lease_phones(config, run.path, opened, others.append)
        leased = {"small-0": third, "small-1": first, "tall-0": second}
        assert is_as_written(run.phones.read_bytes())
        kept = json.loads(run.phones.read_text())
        assert kept.pop(CHECKSUM)
        assert kept == leased
        lease_phones(config, run.path, opened, others.append)  # as a resume does
        assert not others
        found: dict[str, str] = {}
        for number in range(config.collector_count):
            pool = build_device_pool(*config.of_collector(number), opened, run.path / "logs")
            found |= {each.name: each.device.shell.serial for each in pool.devices}  # type: ignore[attr-defined]
        assert found == leased


@pytest.mark.slow
def test_phones_over_adb_and_simulated_ones(tmp_path: Path, model: Path) -> None:
    with served_phones(2) as phones:
        adb = [
            "kind=adb",
            "screen=360x720@1",
            "count=2",
            f"serials={','.join(phones.phones.addresses)}",
            f"android.adb_port={phones.adb.port}",
        ]
        words = [f"environments.tall.devices.{each}" for each in adb]
        words += ["environments.tall.collectors=2"]
        run = train_until_both_have_played(mixed_config(tmp_path, model, *words))
        leased = json.loads(run.phones.read_text())
        assert leased.pop(CHECKSUM)
        assert leased == dict(zip(("tall-0", "tall-1"), phones.phones.addresses, strict=True))
    lines = read_lines(run.episodes, EpisodeLine)
    played = {line.environment for line in lines if line.ending is not Ending.DEVICE_LOST}
    assert played == {"small", "tall"}
    assert {line.device for line in lines} <= {"small-0", "small-1", "tall-0", "tall-1", ""}
    assert (run.path / "logs" / "collector-2.1.log").exists()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.usefixtures("needs_pages")
def test_web_pages_and_simulated_phones(tmp_path: Path, model: Path) -> None:
    words = [
        "environments.tall.settings=miniwob",
        "environments.tall.tasks={source='miniwob', templates=['miniwob.click-test']}",
        "environments.tall.devices={kind='browser', count=1}",
    ]
    run = train_until_both_have_played(mixed_config(tmp_path, model, *words))
    templates = {(e.environment, e.template) for e in read_lines(run.episodes, EpisodeLine)}
    assert templates == {("small", "clock.turn_off_alarm"), ("tall", "miniwob.click-test")}
    result = json.loads(run.result.read_text())["success_by_environment"]
    assert {name: each["after"]["episodes"] for name, each in result.items()} == {
        "small": 1,
        "tall": 1,
    }
