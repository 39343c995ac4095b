"""Every script in examples/ runs, with tiny settings; those that train as processes."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agent.tiny_models import tiny_model
from tests.chat.chat_protocol import serving
from tests.devices.adb.served_phones import served_phones
from tests.devices.emulator.stand_in_sdk import PORTS, stand_in_sdk
from tests.engine.aitw_files import aitw_settings
from tests.engine.tiny_runs import write_model
from tests.judging.judge_server import YES

from distrl.process_environment import for_forkserver

EXAMPLES = Path(__file__).parents[1] / "examples"
QUICK = {"random_agent", "own_policy", "own_task", "own_app", "own_loop"}
TRAINING = {"train", "own_judge_and_reward", "own_device", "fine_tune_qwen", "compare_algorithms"}
ELSEWHERE = {"served_phones", "emulators", "cluster"}  # need more, below
IN_ENVIRONMENTS = {"openenv_agent", "trl_grpo"}  # run in tests/environments
TINY = (
    "tasks.split=train", "evaluation.split=test",
    "tasks.families=general", "tasks.templates=clock.turn_off_alarm,clock.delete_alarm",
    "devices.count=2", "run.free_gigabytes=0.01", "run.updates=1",
    "agent.policy.sampling.max_new_tokens=3", "collection.heartbeat_seconds=1",
    "collection.collectors=1", "pacing.samples_per_insert=1", "pacing.minimum_fill=2",
    "learning.learner.batch_trajectories=2", "learning.learner.refresh_trajectories=0",
    "learning.learner.updates_per_publish=1", "learning.learner.warm_up_updates=0",
    "evaluation.before=0", "evaluation.after=1", "reporting.recordings=0",
)  # fmt: skip
ON_CPU = (
    "agent.policy.device=cpu", "agent.policy.weights=float32", "learning.learner.precision=full",
    "evaluation.every_minutes=none",
)  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


EXAMPLE_SECONDS = 540.0


def run_example(name: str, folder: Path, *words: str) -> str:
    """The output of a script, as a user would start it."""
    path = os.pathsep.join(each for each in sys.path if each)
    environment = {**for_forkserver(os.environ), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *words, f"run.directory={folder / 'runs'}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=EXAMPLE_SECONDS,  # what it has said by then is in the error
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def test_every_example_is_tested_and_listed() -> None:
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    assert scripts == QUICK | TRAINING | ELSEWHERE | IN_ENVIRONMENTS
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert {name for name in scripts if f"({name}.py)" in page} == scripts


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("random_agent", [], "Tap(x="),
        ("own_policy", ["2"], "0.0%"),
        ("own_task", [], "scripted 100.0%"),
        ("own_app", [], "scripted 100.0%"),
    ],
)
def test_a_quick_one(
    name: str,
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [name, *words])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert said in capsys.readouterr().out


def test_a_loop_of_your_own(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["own_loop", f"agent.model={model}", *TINY])
    runpy.run_path(str(EXAMPLES / "own_loop.py"), run_name="__main__")
    assert "update 1: " in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("train", (), "runs/quick_start"),
        ("own_judge_and_reward", (), "were tidy"),
        ("own_device", ("run.trajectories=2",), "alarm"),
        ("compare_algorithms", (), "filtered_bc: "),
    ],
)
def test_one_that_trains(
    name: str, more: tuple[str, ...], said: str, model: Path, tmp_path: Path
) -> None:
    assert said in run_example(name, tmp_path, f"agent.model={model}", *TINY, *more)


@pytest.mark.slow
def test_qwen_is_fine_tuned_with_adapters(tmp_path: Path) -> None:
    words = (f"agent.model={tiny_model('qwen2_5_vl')}", "agent.policy.lora.rank=2", *TINY, *ON_CPU)
    said = run_example("fine_tune_qwen", tmp_path, *words)
    assert "update 1" in said
    [adapters] = (tmp_path / "runs").glob("*/policy/adapter_config.json")
    assert adapters.is_file()


@pytest.mark.slow
def test_training_on_phones_on_adb(model: Path, tmp_path: Path) -> None:
    with served_phones(2) as phones:
        serials = ",".join(phones.phones.addresses)
        own = (f"devices.serials={serials}", f"devices.android.adb_port={phones.adb.port}")
        said = run_example("served_phones", tmp_path, f"agent.model={model}", *TINY, *own)
    assert "episodes were successes" in said
    assert updates(tmp_path) >= 1


@pytest.mark.slow
def test_training_on_emulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = [each for each in TINY if not each.startswith(("tasks.", "evaluation."))]
    android = (
        "emulator.avd=phone", "emulator.boot_seconds=60", f"first_emulator_port={PORTS.first}",
        "stillness.reaction_seconds=0.0", "stillness.quiet_seconds=0.0",
    )  # fmt: skip
    with stand_in_sdk(tmp_path, monkeypatch) as sdk, serving(YES) as (url, log):
        words = (
            f"agent.model={tiny_model('qwen2_5_vl')}",
            "agent.policy.lora.rank=2",
            f"judge.server={url}",
            "judge.model=judge",
            f"devices.android.adb_port={sdk.adb.port}",
            *(f"devices.android.{each}" for each in android),
        )
        folder = [*aitw_settings(tmp_path), *tiny, *ON_CPU]
        said = run_example("emulators", tmp_path, *words, *folder)
        assert len(sdk.starts) == 3  # two phones and the spare
        assert log.completions
    assert re.search(r"^\d+ episodes, 0 of them lost", said, re.MULTILINE)
    assert updates(tmp_path) >= 1


def updates(folder: Path) -> int:
    """Of the one run there."""
    [result] = (folder / "runs").glob("*/result.json")
    return int(json.loads(result.read_text("utf-8"))["updates"])


@pytest.mark.parametrize("name", ["trl_grpo", "openenv_agent"])
def test_what_an_example_needs_is_said(name: str) -> None:
    path = os.pathsep.join(each for each in sys.path if each)
    words = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "the following arguments are required" in done.stderr


@pytest.mark.ray
def test_a_cluster(model: Path, tmp_path: Path) -> None:
    words = ("engine.address=local", f"agent.model={model}", *TINY)
    assert "runs/cluster" in run_example("cluster", tmp_path, *words)
