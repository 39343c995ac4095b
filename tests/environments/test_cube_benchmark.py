"""The phone as a CUBE benchmark, played by CUBE's own loop."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest
from tests.environments.alarm_model import switch_number
from tests.plugin_package.src.distrl_quiet.grayscale_phone import GrayscalePhone
from tests.plugin_package.src.distrl_quiet.patient_judge import PatientJudge

import distrl
from distrl.errors import UsageError
from distrl.records import Split, Task

pytest.importorskip("cube.benchmark", reason="cube-standard is not installed: make test-trainers")
TASK = "clock.turn_off_alarm/test/0"


def report_of(agent: Any) -> dict[str, Any]:
    """What CUBE says of an episode of the task."""
    from cube.testing import run_debug_episode

    from distrl.environments.cube_benchmark import PhoneBenchmarkConfig

    configs = {each.task_id: each for each in PhoneBenchmarkConfig().get_task_configs()}
    reported: dict[str, Any] = run_debug_episode(configs[TASK].make(), agent)
    return reported


class AlarmAgent:
    """Turns the alarm off, and says so by the action that it is given."""

    def __init__(self, last: str) -> None:
        self._last, self._steps, self._task = last, 0, ""

    def __call__(self, observation: Any, actions: list[Any]) -> Any:
        from cube.core import Action

        self._steps += 1
        screen = observation.to_markdown()
        if self._steps == 1:
            self._task = screen
            return Action(name="open_app", arguments={"app": "Clock"})
        if self._steps == 2:
            return Action(name="tap", arguments={"element": switch_number(self._task, screen)})
        return Action(name=self._last, arguments={})


@pytest.mark.parametrize("last", ["finish", "final_step"])
def test_a_task_is_played_and_rewarded(last: str) -> None:
    found = report_of(AlarmAgent(last))
    assert (found["error"], found["done"], found["reward"], found["steps"]) == (None, True, 1.0, 3)
    assert found["tools_list_ok"], found["tools_list_error"]
    assert found["close_idempotent_ok"]


def test_what_is_not_done_earns_nothing() -> None:
    from cube.core import Action

    found = report_of(lambda observation, actions: Action(name="finish", arguments={}))
    assert (found["done"], found["reward"]) == (True, 0.0)


def test_tasks_survive_the_way_to_a_worker() -> None:
    from distrl.environments.cube_benchmark import PhoneBenchmarkConfig, PhoneTaskConfig

    first = next(iter(PhoneBenchmarkConfig().get_task_configs()))
    again = PhoneTaskConfig.model_validate_json(first.model_dump_json())
    assert again.make().reset()[0] == first.make().reset()[0]


@pytest.fixture
def quiet_parts() -> None:
    distrl.register_device("grayscale", GrayscalePhone)
    distrl.register_judge("patient", PatientJudge)
    for number in range(3):
        distrl.register_task(replace(NAP, id=f"mine.nap/test/{number}", seed=number))


NAP = Task("mine.nap/test/0", "Take a nap", "general", "mine.nap", "test", 0, (), "easy", 4)
REGISTERED = {"devices.kind": "grayscale", "tasks.source": "registered", "judge.kind": "patient"}


@pytest.mark.usefixtures("quiet_parts")
@pytest.mark.skipif(find_spec("torch") is None, reason="settings need distrl[learn]")
@pytest.mark.parametrize(("opens", "reward"), [(True, 1.0), (False, 0.0)])
def test_a_device_of_somebody_else_is_played_and_rewarded(opens: bool, reward: float) -> None:
    from cube.core import Action
    from cube.testing import run_debug_episode

    from distrl.environments.cube_benchmark import DeviceBenchmarkConfig, DeviceToolConfig

    given = iter(
        [Action(name="open_app", arguments={"app": "Clock"})] * opens
        + [Action(name="finish", arguments={})]
    )
    benchmark = DeviceBenchmarkConfig(tool_config=DeviceToolConfig(overrides=REGISTERED))
    assert sorted(benchmark.tasks()) == [f"mine.nap/test/{number}" for number in range(3)]
    one = benchmark.subset_from_list(["mine.nap/test/2"])
    [config] = one.get_task_configs()
    config = type(config).model_validate_json(config.model_dump_json())  # on its way to a worker
    found = run_debug_episode(config.make(), lambda observation, actions: next(given))
    assert (found["error"], found["done"], found["reward"]) == (None, True, reward)
    assert found["close_idempotent_ok"]


@pytest.mark.skipif(find_spec("torch") is None, reason="settings need distrl[learn]")
@pytest.mark.parametrize(("split", "said"), [(None, "test"), ("undemonstrated", "train")])
def test_tasks_are_of_the_split_that_the_settings_evaluate_on(
    split: Split | None, said: str
) -> None:
    from distrl.environments.cube_benchmark import DeviceBenchmarkConfig, DeviceToolConfig

    device = DeviceToolConfig(settings="quick_start", split=split, tasks=3)
    listed = DeviceBenchmarkConfig(tool_config=device).tasks()
    assert {name.split("/")[1] for name in listed} == {split or "undemonstrated_test"}
    assert {each.split for each in listed.values()} == {said}


def test_settings_are_asked_for() -> None:
    from distrl.environments.cube_benchmark import DeviceBenchmarkConfig

    with pytest.raises(UsageError, match=r"tool_config=DeviceToolConfig\("):
        DeviceBenchmarkConfig().tasks()
