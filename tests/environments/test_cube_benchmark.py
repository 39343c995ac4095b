"""The phone as a CUBE benchmark, played by CUBE's own loop."""

from __future__ import annotations

from typing import Any

import pytest
from tests.environments.alarm_model import switch_number

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
