"""One policy is measured on simulated phones and on web pages by the same code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from tests.devices.adb.served_phones import served_handsets
from tests.engine.aitw_files import aitw_settings
from typer.testing import CliRunner

from distrl.agent.simple_policies import ConstantPolicy
from distrl.cli.main import app
from distrl.config.training_config import TrainingConfig, load_config
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.device import Device
from distrl.devices.safety.safety import SENTENCE, consent_path
from distrl.engine.environment import open_environment, play_environment
from distrl.episodes.evaluation import SIMPLE_AGENTS, play_on
from distrl.errors import ConsentMissing, UnusableModel, UsageError
from distrl.judging.judge import Judge
from distrl.records import Decision, Done, Ending, Observation, Tap, Task
from phonesim.adb_daemon.handset import Handset
from phonesim.display import Display

MINIWOB = [
    "devices.kind=browser", "devices.count=2", "tasks.source=miniwob", "judge.kind=page",
    "tasks.templates=['miniwob.click-test']", "collection.stop_on_success=true",
]  # fmt: skip


def test_simulated_tasks_are_those_of_any_evaluation() -> None:
    config = load_config(None, ["tasks.templates=['clock.*']", "devices.count=2"])
    played = list(play_environment(config, SIMPLE_AGENTS["scripted"], 4, 0, "test"))
    assert [each.ending for each in played] == [Ending.SUCCESS] * 4
    assert {each.task.split for each in played} == {"test"}
    assert all(each.task.template.startswith("clock.") for each in played)


def test_tasks_are_those_that_the_settings_evaluate_on() -> None:
    """Rehearsal is for training: it adds tasks of a split that is not measured."""
    words = ["tasks.rehearsal=0.2", "tasks.split=undemonstrated", "devices.count=1"]
    config = load_config(None, [*words, "evaluation.split=undemonstrated_test"])
    with open_environment(config, None, 1, 0) as environment:
        assert next(environment.tasks()).split == "undemonstrated_test"
    with open_environment(config, "test", 1, 0) as environment:
        assert next(environment.tasks()).split == "test"


def test_judges_that_come_later_are_refused() -> None:
    words = ["judge.kind=vlm", "judge.server=http://localhost:1/v1", "judge.model=m"]
    with pytest.raises(UsageError, match="distrl collect"):
        next(play_environment(load_config(None, words), SIMPLE_AGENTS["done"], 1, 0, "test"))


@pytest.mark.parametrize("command", ["evaluate", "play"])
def test_a_model_that_cannot_take_a_screen_is_refused_before_a_phone_is_touched(
    tmp_path: Path, model: Path, command: str
) -> None:
    """The screen of the first phone would do."""
    handsets = [Handset("upright", 7), Handset("lying", 7, display=Display(1280, 800, 1))]
    with served_handsets(handsets) as phones:
        serials = phones.phones.addresses[::-1] if command == "play" else phones.phones.addresses
        settings = tmp_path / "phones.toml"
        settings.write_text(
            f'[devices]\nkind = "adb"\ncount = 2\nserials = {json.dumps(serials)}\n'
            f"[devices.android]\nadb_port = {phones.adb.port}\n"
        )
        words = [command, str(model), "--on", str(settings)]
        words += ["--episodes", "2"] if command == "evaluate" else ["--out", f"{tmp_path}/a.gif"]
        result = CliRunner().invoke(app, words)
        assert [each.phone.state.seed for each in handsets] == [7, 7]  # no reset
        assert isinstance(result.exception, UnusableModel), result.output
        assert "1280 × 800" in str(result.exception)


def test_phones_without_consent_are_refused_before_any_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner of the first agrees."""
    monkeypatch.setenv("DISTRL_CONSENT", str(tmp_path))
    handsets = [Handset("agreed", 7), Handset("not agreed", 7)]
    with served_handsets(handsets) as phones:
        first, second = phones.phones.addresses
        consent_path(first).write_text(
            f'serial = "{first}"\nowner = "Ada"\nsentence = "{SENTENCE}"\napps = []\n'
        )
        words = ["devices.kind=adb", "devices.count=2", f"devices.serials={first},{second}"]
        words += [f"devices.android.adb_port={phones.adb.port}", "devices.android.guard_all=true"]
        words += ["judge.kind=vlm", "judge.model=m", "judge.server=http://localhost:1/v1"]
        config = load_config(None, [*words, *aitw_settings(tmp_path)])
        with (
            pytest.raises(ConsentMissing, match=second),
            open_environment(config, "test", 2, 0) as environment,
        ):
            list(
                play_on(
                    islice(environment.tasks(), 2),
                    SIMPLE_AGENTS["idle"],
                    environment.devices,
                    environment.judge_for,
                )
            )
        assert [each.phone.state.seed for each in handsets] == [7, 7]


class Finder:
    """Taps the button that the page has; knows its device."""

    def __init__(self, device: BrowserDevice) -> None:
        self._device = device

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        [button] = [each for each in self._device.elements() if each.role == "button"]
        x, y = button.centre
        return [Decision(Tap(x / 360, y / 720))]


def finder(task: Task, device: Device, judge: Judge) -> Finder:
    assert isinstance(device, BrowserDevice)
    return Finder(device)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.usefixtures("needs_pages")
def test_pages_are_played_and_judged() -> None:
    config = load_config(None, MINIWOB)
    played = list(play_environment(config, finder, 3, 0, "test"))
    assert [each.ending for each in played] == [Ending.SUCCESS] * 3
    assert {each.task.instruction for each in played} == {"Click the button."}
    lazy = list(play_environment(config, lambda *_: ConstantPolicy(Done()), 2, 0, "test"))
    assert [each.ending for each in lazy] == [Ending.FAILURE] * 2
    with pytest.raises(UsageError, match="no scripted solution"):
        list(play_environment(config, SIMPLE_AGENTS["scripted"], 1, 0, "test"))


@pytest.mark.usefixtures("needs_pages")
def test_every_template_comes_once_a_round() -> None:
    config = load_config(None, [*MINIWOB, "tasks.templates=['miniwob.click-test*']"])
    ids = tasks_of(config, 6)
    assert len(set(ids)) == 6
    assert [task.split("/")[0] for task in ids[:3]] == [task.split("/")[0] for task in ids[3:]]


def tasks_of(config: TrainingConfig, number: int, seed: int = 0) -> list[str]:
    with open_environment(config, "test", 1, seed) as environment:
        return [task.id for task in islice(environment.tasks(), number)]


def test_a_seed_decides_on_the_tasks_and_not_the_run_that_is_measured() -> None:
    words = ["tasks.families=['shopping']", "devices.count=1"]
    runs = [load_config(None, [*words, f"run.seed={seed}"]) for seed in (1, 2)]
    first, second = (tasks_of(config, 5) for config in runs)
    assert first == second != tasks_of(runs[0], 5, seed=1)
