"""Parts of others: what is refused, what is found, and that a whole package trains."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
import torch
from tests.agent.dialects.made_up_actions import made_up, spoilt
from tests.agent.tiny_llava import write_llava
from tests.agent.vlm_policies import observations
from tests.engine.tiny_runs import command, tiny_config, write_model
from tests.plugin_package.src.distrl_quiet.grayscale_phone import GrayscalePhone
from tests.plugin_package.src.distrl_quiet.llava import LLAVA
from tests.plugin_package.src.distrl_quiet.patient_judge import PatientJudge, judge_by_length
from tests.plugin_package.src.distrl_quiet.percent import PERCENT
from tests.plugin_package.src.distrl_quiet.quiet_tasks import SilenceQuietly
from tests.plugin_package.src.distrl_quiet.sooner_reward import sooner

import distrl
from distrl import plugins
from distrl.agent.dialects import DIALECTS, dialect_named
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.dialects.dialect import nearest
from distrl.agent.loading import load_policy
from distrl.config.training_config import load_config
from distrl.engine.device_wiring import make_registered
from distrl.engine.environment import open_environment
from distrl.engine.task_wiring import registered_tasks
from distrl.episodes.evaluation import SIMPLE_AGENTS, evaluate
from distrl.errors import InvalidPlugin, InvalidSetting, UnknownModelFamily, UnknownPlugin
from distrl.plugin_shape import BUILT_IN
from distrl.process_environment import for_forkserver
from distrl.records import Done, Ending, Swipe, Task, Unreadable, Wait
from distrl.replay.store.trajectory_reader import TrajectoryReader
from phonesim.apps import OWN_APPS
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task, template_names

PACKAGE = Path(__file__).parent / "plugin_package"
TASK = Task("mine.nap/train/0", "Take a nap", "general", "mine.nap", "train", 0, (), "easy", 10)


# What is refused ---------------------------------------------------------------------------------


def test_two_parts_of_one_name_are_refused_and_the_same_twice_is_not() -> None:
    distrl.register_judge("patient", PatientJudge)
    distrl.register_judge("patient", PatientJudge)
    with pytest.raises(InvalidPlugin, match="two parts are called so"):
        distrl.register_judge("patient", judge_by_length)


def test_names_of_our_own_parts_are_reserved() -> None:
    assert set(BUILT_IN["dialect"]) == set(DIALECTS)
    assert set(BUILT_IN["app"]) == set(OWN_APPS)


def test_a_part_that_nobody_registered_says_what_to_do() -> None:
    with pytest.raises(UnknownPlugin, match=r"there are: facts, vlm.*group distrl\.judges"):
        plugins.find("judge", "polite")


# What settings may name --------------------------------------------------------------------------


def test_settings_take_registered_names_alone(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="emulator, android_world, browser or a regis"):
        tiny_config(tmp_path, tmp_path, "devices.kind=grayscale")
    distrl.register_device("grayscale", GrayscalePhone)
    config = tiny_config(tmp_path, tmp_path, "devices.kind=grayscale", "devices.options.strength=1")
    device = make_registered(config.devices, "phone-0")
    assert device.name == "phone-0"
    options = {"colour": "none"}
    with pytest.raises(InvalidPlugin, match="unexpected keyword argument 'colour'"):
        make_registered(dataclasses.replace(config.devices, options=options), "phone-0")
    with pytest.raises(InvalidSetting, match="for devices that others have registered"):
        tiny_config(tmp_path, tmp_path, "devices.options.strength=1")


def test_a_function_judges_later_and_a_class_at_once(tmp_path: Path) -> None:
    distrl.register_judge("patient", PatientJudge)
    distrl.register_judge("by_length", judge_by_length)
    assert not tiny_config(tmp_path, tmp_path, "judge.kind=patient").judge.later
    assert tiny_config(tmp_path, tmp_path, "judge.kind=by_length").judge.later


def test_a_template_is_a_task_like_any_other() -> None:
    distrl.register_task(SilenceQuietly)
    assert "quiet.silence_alarm" in template_names("train", "general")
    tasks = [load_task(f"quiet.silence_alarm/train/{n}")[0] for n in range(3)]
    outcomes = evaluate(tasks, SIMPLE_AGENTS["scripted"], [SimulatedDevice("phone")])
    assert [each.ending for each in outcomes] == [Ending.SUCCESS] * 3


def test_a_task_without_a_template_is_drawn_by_its_source(tmp_path: Path) -> None:
    distrl.register_task(TASK)
    distrl.register_judge("patient", PatientJudge)
    words = ("tasks.source=registered", "judge.kind=patient", "tasks.templates=mine.*")
    none = ("evaluation.before=0", "evaluation.after=0")
    config = tiny_config(tmp_path, tmp_path, *words, *none)
    assert registered_tasks(config.tasks) == [TASK]


def test_registered_tasks_are_measured_in_the_order_of_the_seed_that_is_asked_for() -> None:
    for number in range(9):
        distrl.register_task(dataclasses.replace(TASK, id=f"mine.nap/test/{number}", split="test"))
    distrl.register_judge("patient", PatientJudge)
    words = ("tasks.source=registered", "judge.kind=patient")
    none = ("evaluation.before=0", "evaluation.after=0")

    def drawn(run_seed: int, seed: int) -> list[str]:
        config = load_config(None, [*words, *none, f"run.seed={run_seed}"])
        with open_environment(config, "test", 1, seed) as environment:
            return [task.id for task in islice(environment.tasks(), 9)]

    assert drawn(1, 0) == drawn(2, 0) != drawn(1, 1)


def test_a_dialect_is_found_by_its_name() -> None:
    distrl.register_dialect(dataclasses.replace(COMPACT, name="brief"))
    assert dialect_named("brief").name == "brief"


def test_a_model_of_a_registered_family_learns_to_answer_in_a_registered_dialect(
    tmp_path: Path,
) -> None:
    directory = write_llava(tmp_path / "llava")
    with pytest.raises(UnknownModelFamily, match="'llava'"):
        load_policy(directory)
    distrl.register_model_family(LLAVA)
    with pytest.raises(InvalidSetting, match="dialect='percent'"):
        load_policy(directory)
    distrl.register_dialect(PERCENT)
    policy = load_policy(directory, max_new_tokens=6, temperature=0.5)
    seen = observations()
    before = policy.decide(seen)
    sampled = policy.score(seen, [each.token_ids for each in before])
    for row, decision in enumerate(before):
        found = sampled.log_probs[row, : len(decision.log_probs)]
        torch.testing.assert_close(found, torch.tensor(decision.log_probs), atol=1e-4, rtol=0)
        assert isinstance(decision.action, Unreadable)  # random weights say nothing
        assert "such as tap 50 20" in decision.action.reason
    done = policy.builder.answers.encode("done")
    optimizer = torch.optim.Adam(policy.policy_parameters(), 3e-3)
    for _ in range(30):
        optimizer.zero_grad()
        scores = policy.score(seen, [done] * len(seen))
        (-scores.log_probs[scores.token_mask].mean()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert [each.action for each in policy.decide(seen)] == [Done()] * len(seen)


def test_the_dialect_of_the_package_reads_what_it_writes_and_never_raises() -> None:
    rng = random.Random("spoilt/percent")
    for action, image in made_up("percent", 500):
        said = nearest(action)
        if isinstance(said, Wait):  # it cannot say how long
            said = Wait()
        if isinstance(said, Swipe):
            said = dataclasses.replace(said, seconds=0.3)
        written = PERCENT.write(action, image)
        back = PERCENT.read(written, image)
        assert type(back) is type(said), written
        for name, value in dataclasses.asdict(said).items():
            assert getattr(back, name) == pytest.approx(value, abs=0.0051), written
        PERCENT.read(spoilt(written, rng), image)


def test_what_a_child_process_gets() -> None:
    distrl.register_judge("patient", PatientJudge)
    distrl.register_judge("unnamed", lambda trajectory: judge_by_length(trajectory))
    taken = pickle.loads(plugins.portable())
    assert [(each.name, each.part) for each in taken] == [("patient", PatientJudge)]
    plugins._registry.found.clear()
    plugins.install(taken)
    assert plugins.find("judge", "patient") is PatientJudge


# A whole package ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds the plug-in package installed."""
    target = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("package") / "distrl-quiet"
    copy = ["cp", "-r", str(PACKAGE), str(source)]  # a build leaves its folders there
    build = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    for words in (copy, [*build, "--target", str(target), str(source)]):
        subprocess.run(words, check=True, capture_output=True, text=True)
    environment = for_forkserver(os.environ)
    path = os.pathsep.join([str(target), *(each for each in sys.path if each)])
    return {**environment, "PYTHONPATH": path}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


PARTS = (
    "devices.kind=grayscale", "devices.options.strength=0.5", "tasks.templates=quiet.*",
    "judge.kind=patient", "learning.algorithm=reinforce", "learning.options.discount=0.9",
    "learning.learner.rewards.kind=sooner", "run.updates=1", "devices.count=1",
)  # fmt: skip


def trained(words: list[str], environment: dict[str, str], folder: Path) -> Path:
    """The run of a command that trains with parts of the package; checks what it left."""
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    [run] = (folder / "runs").iterdir()
    assert json.loads((run / "result.json").read_text("utf-8"))["updates"] >= 1
    stored = [each.trajectory for each in TrajectoryReader(run / "trajectories").read()]
    assert {each.task.template for each in stored} == {"quiet.silence_alarm"}
    assert {each.verdict.judge for each in stored if each.verdict} == {"patient"}
    pixels = stored[0].screens[0].pixels.astype(int)
    assert 0 < (pixels.max(2) - pixels.min(2)).max() < 200  # half of the colour is gone
    return run


def test_doctor_names_what_is_installed_and_what_is_broken(installed: dict[str, str]) -> None:
    code = (
        "from distrl.cli.doctor import plugin_findings\n"
        "for found in plugin_findings(): print(found.verdict, found.what, found.found)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=installed, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "good plug-in device grayscale, of distrl-quiet 0.3" in lines
    assert "good plug-in judge by_length, of distrl-quiet 0.3" in lines
    assert "good plug-in model_family llava, of distrl-quiet 0.3" in lines
    assert "good plug-in dialect percent, of distrl-quiet 0.3" in lines
    assert "good plug-in step_view grayscale, of distrl-quiet 0.3" in lines
    assert "good plug-in app Hush, of distrl-quiet 0.3" in lines
    [note] = [line for line in lines if line.startswith("note")]
    assert "'shorthand' of distrl-quiet 0.3 is broken: InvalidPlugin" in note


@pytest.mark.slow
def test_a_family_and_a_dialect_of_an_installed_package_decide(
    installed: dict[str, str], tmp_path: Path
) -> None:
    directory = write_llava(tmp_path / "llava")
    code = (
        "import sys, distrl\n"
        "played = distrl.play('clock.turn_off_alarm/train/0', sys.argv[1])\n"
        "print(len(played.decisions), played.decisions[0].action)"
    )
    words = [sys.executable, "-c", code, str(directory)]
    done = subprocess.run(words, env=installed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert "is no line such as tap 50 20" in done.stdout  # the reason of its reader


@pytest.mark.slow
def test_an_installed_package_trains_asynchronously(
    installed: dict[str, str], model: Path, tmp_path: Path
) -> None:
    trained(command(tmp_path, model, *PARTS), installed, tmp_path)


SCRIPT = """
import sys
import distrl
from distrl.cli.main import main
from distrl.records import Verdict

def by_chance(trajectory):
    return Verdict(len(trajectory.decisions) % 2 == 0, "", "by_chance")

distrl.register_judge("by_chance", by_chance)
if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
def test_what_a_script_registers_reaches_its_collectors(model: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, "utf-8")
    parts = ("judge.kind=by_chance", "run.updates=1", "devices.count=1")
    words = [sys.executable, str(script), *command(tmp_path, model, *parts)[3:]]
    path = os.pathsep.join(each for each in sys.path if each)
    environment = {**for_forkserver(os.environ), "PYTHONPATH": path}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    [run] = (tmp_path / "runs").iterdir()
    stored = [each.trajectory for each in TrajectoryReader(run / "trajectories").read()]
    assert {each.verdict.judge for each in stored if each.verdict} == {"by_chance"}


@pytest.mark.ray
def test_an_installed_package_trains_on_ray(
    installed: dict[str, str], model: Path, tmp_path: Path
) -> None:
    words = [*command(tmp_path, model, *PARTS), "--engine", "ray"]
    trained(words, installed, tmp_path)


@pytest.mark.ray
def test_what_a_script_registers_reaches_a_cluster(model: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, "utf-8")
    parts = ("judge.kind=by_chance", "run.updates=1", "devices.count=1", "engine.kind=ray")
    words = [sys.executable, str(script), *command(tmp_path, model, *parts)[3:]]
    path = os.pathsep.join(each for each in sys.path if each)
    environment = {**for_forkserver(os.environ), "PYTHONPATH": path}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_a_reward_gives_one_number_for_each_decision(tmp_path: Path) -> None:
    distrl.register_reward("sooner", sooner)
    config = tiny_config(tmp_path, tmp_path, "learning.learner.rewards.kind=sooner")
    assert config.learning.learner.rewards.kind == "sooner"
