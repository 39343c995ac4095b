"""The public API: what is exported, how light it is, and that each name works in a script."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.tiny_runs import tiny_config, write_model

import distrl
from distrl.api import Run
from distrl.errors import InvalidSetting, UnknownTask, UsageError
from distrl.learning.learner_report import LearnerReport
from distrl.process_environment import for_forkserver
from distrl.records import Decision, Done, Ending, Observation
from distrl.runs.run_records import Point

ROOT = Path(__file__).parents[1]
MOST_NAMES, MOST_LINES, MOST_SECONDS = 22, 20, 0.1


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


class SaysDone:
    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(Done())] * len(observations)


def test_every_name_is_there_documented_and_typed() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert len(distrl.__all__) <= MOST_NAMES
    for name in distrl.__all__:
        found = getattr(distrl, name)
        assert inspect.getdoc(found), name
        assert f"`{name}" in page, f"docs/api.md does not tell {name}"
        if inspect.isfunction(found):
            signature = inspect.signature(found)
            assert signature.return_annotation is not inspect.Signature.empty
    assert set(distrl.__all__) <= set(dir(distrl))
    with pytest.raises(AttributeError, match="'distrl' has no 'trian'; it has TrainingConfig"):
        distrl.trian  # noqa: B018


def test_importing_loads_nothing_heavy_and_takes_little_time() -> None:
    code = (
        "import sys, time\nstart = time.process_time()\nimport distrl\n"
        "print(time.process_time() - start)\n"
        "print(*{'torch', 'numpy', 'rich', 'typing'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, loaded = done.stdout.split("\n")[:2]
    assert float(seconds) < MOST_SECONDS
    assert loaded == ""


def test_the_shortest_script_is_short() -> None:
    script = (ROOT / "examples" / "train.py").read_text("utf-8")
    assert len(script.splitlines()) <= MOST_LINES


# Playing and evaluating --------------------------------------------------------------------------


def test_a_script_without_a_guard_is_refused_before_it_starts(tmp_path: Path) -> None:
    """Its collectors would import it, start runs of their own, and never collect."""
    script = tmp_path / "train.py"
    script.write_text("import distrl\n\ndistrl.train('quick_start')\n", "utf-8")
    path = os.pathsep.join(each for each in sys.path if each)
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "train.py starts a run" in done.stderr
    assert 'below `if __name__ == "__main__":`' in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["train.py"]


def test_no_guard_is_needed_where_no_process_is_started(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(tmp_path, model)
    script = tmp_path / "train.py"
    script.write_text("import distrl\n\ndistrl.train('quick_start')\n", "utf-8")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)  # `python -m pytest` has one
    collection = replace(config.collection, mode="one_process", collectors=1)
    learner = replace(config.learning.learner, mode="offline")
    learning = replace(config.learning, learner=learner, corpus=str(tmp_path))
    for alone in (replace(config, collection=collection), replace(config, learning=learning)):
        assert distrl.build_engine(alone, quiet=True).directory.path.is_dir()
    with pytest.raises(UsageError, match=r"train\.py starts a run"):
        distrl.build_engine(config)
    with pytest.raises(UsageError, match=r"train\.py starts a run"):  # always has collectors
        distrl.collect(replace(config, collection=collection))


def test_a_callback_that_cannot_be_called_is_refused(tmp_path: Path) -> None:
    config = distrl.load_config("quick_start", [f"run.directory={tmp_path / 'runs'}"])
    with pytest.raises(UsageError, match="on_metrics=3 cannot be called"):
        distrl.train(config, on_metrics=3)  # type: ignore[arg-type]
    assert not (tmp_path / "runs").exists()


def test_an_evaluation_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no task to play"):
        distrl.evaluate("idle", episodes=0)
    with pytest.raises(UsageError, match="no task to play"):
        distrl.evaluate("idle", tasks=[])
    with pytest.raises(UnknownTask, match="'tset'; there are train, test"):
        distrl.evaluate("idle", split="tset")  # type: ignore[arg-type]


def test_a_task_is_played_by_name() -> None:
    played = distrl.play("clock.turn_off_alarm/test/0", "scripted")
    assert played.ending is Ending.SUCCESS
    assert distrl.play(played.task, SaysDone()).ending is Ending.FAILURE


def test_agents_are_evaluated_on_tasks_or_episodes() -> None:
    tasks = [f"clock.turn_off_alarm/test/{n}" for n in range(3)]
    assert distrl.evaluate("scripted", tasks=tasks).success.rate == 1.0
    found = distrl.evaluate(SaysDone(), episodes=4, templates=["clock.turn_off_alarm"])
    assert (found.success.successes, found.success.episodes) == (0, 4)
    with pytest.raises(UsageError, match="is no policy: it has no decide"):
        distrl.evaluate(3, episodes=1)  # type: ignore[arg-type]


def test_one_task_family_or_template_needs_no_list() -> None:
    first = "clock.turn_off_alarm/test/0"
    [outcome] = distrl.evaluate("scripted", tasks=first).outcomes
    assert outcome.task.id == first
    assert distrl.evaluate("idle", tasks=outcome.task).success.episodes == 1
    everyday = distrl.evaluate("idle", families="everyday", episodes=2)
    assert {each.task.family for each in everyday.outcomes} == {"everyday"}
    both = distrl.evaluate("idle", families="both", episodes=2)
    assert {each.task.family for each in both.outcomes} == {"general", "shopping"}
    clock = distrl.evaluate("idle", templates="clock.*", episodes=3)
    assert {each.task.template.partition(".")[0] for each in clock.outcomes} == {"clock"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"tasks": 3}, "3 is no task: give a Task, or an id such as notes.create/test/3"),
        ({"tasks": [None]}, "None is no task"),
        ({"episodes": 2.5}, "episodes=2.5: give a whole number"),
        ({"episodes": -1}, "no task to play"),
        (
            {"families": "genral"},
            "no family called 'genral'; there are .*, everyday, both",
        ),
        ({"templates": "kettle.*"}, r"no template of the split 'test' matches 'kettle\.\*'"),
    ],
)
def test_what_cannot_be_evaluated_on_is_said(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        distrl.evaluate("idle", **asked)


def test_a_run_stands_for_its_policy(tmp_path: Path, model: Path) -> None:
    shutil.copytree(model, tmp_path / "policy")
    assert distrl.evaluate(Run(tmp_path), episodes=np.int64(1)).success.episodes == 1


# Parts -------------------------------------------------------------------------------------------


def test_settings_are_objects_files_or_names(tmp_path: Path, model: Path) -> None:
    assert distrl.load_config("quick_start", ["run.minutes=1"]).run.minutes == 1.0
    assert distrl.TrainingConfig().run.name == "train"
    with pytest.raises(InvalidSetting, match="did you mean quick_start"):
        distrl.load_config("quickstart")
    for given in (3, {"run.minutes": 1}):
        with pytest.raises(UsageError, match=r"names no settings: .*load_config\(NAME"):
            distrl.collect(given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="3 is no run: give a Run, or the directory of one"):
        distrl.resume(3)  # type: ignore[arg-type]


def test_devices_and_tasks_of_the_settings(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    with distrl.build_devices(config) as devices:
        assert [each.name for each in devices] == ["phone-0", "phone-1"]
        devices[0].reset(1)
        assert devices[0].screen().width > 0
    tasks = distrl.build_tasks(config)
    assert {next(tasks).template for _ in range(4)} == set(config.tasks.templates)


def test_a_collector_feeds_a_learner_whose_weights_come_back(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    learner = distrl.build_learner(config, distrl.build_policy(config))
    with distrl.build_collector(config, learner) as collector:
        assert len(collector.collect(2)) == 2
        reports: list[LearnerReport] = []
        while not reports:  # its pacing wants some more than one batch
            assert len(learner.replay) < 8
            collector.collect(2)
            reports = [each for each in [learner.step()] if isinstance(each, LearnerReport)]
        assert collector.collect(2)[0].weight_version == learner.version == 1


# Whole runs --------------------------------------------------------------------------------------

SCRIPT = """
import sys
import distrl

points = []

def stop_after_the_first(point):
    points.append(point)
    return point.series == "learner"

if __name__ == "__main__":
    config = distrl.load_config(sys.argv[1], sys.argv[2:])
    stopped = distrl.train(config, on_metrics=stop_after_the_first, quiet=True)
    assert stopped.result is None and points
    assert [each.updates for each in stopped.metrics()] == [each.updates for each in points]
    finished = distrl.resume(stopped, ["run.updates=2"], quiet=True)
    assert finished.result.updates == 2, finished
    print(len(list(finished.trajectories())), finished.policy.is_dir())
"""


@pytest.mark.slow
def test_a_run_is_stopped_by_a_callback_and_resumed(tmp_path: Path, model: Path) -> None:
    tiny_config(tmp_path, model)  # writes tiny.toml
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, "utf-8")
    words = [f"run.directory={tmp_path / 'runs'}", f"agent.model={model}", "run.updates=5"]
    words += ["evaluation.before=0", "evaluation.after=0", "reporting.recordings=0"]
    path = os.pathsep.join(each for each in sys.path if each)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "tiny.toml"), *words],
        env={**for_forkserver(os.environ), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert re.fullmatch(r"\d+ True", done.stdout.strip().splitlines()[-1])


def test_a_run_knows_its_files(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert run.policy == tmp_path / "policy"
    assert run.metrics() == []


@pytest.mark.ray
@pytest.mark.slow
def test_metrics_of_a_cluster_are_called_back_in_this_process(tmp_path: Path, model: Path) -> None:
    parts = ("engine.kind=ray", "collection.mode=asynchronous", "run.updates=2")
    config = tiny_config(tmp_path, model, *parts)
    got: list[Point] = []
    run = distrl.train(config, on_metrics=got.append, quiet=True)
    assert run.result is not None
    recorded = [(each.series, each.updates, each.seconds) for each in run.metrics()]
    assert [(each.series, each.updates, each.seconds) for each in got] == recorded  # nan != nan
