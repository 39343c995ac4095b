"""Any device under Gymnasium: a registered one, one of our own class, and a phone over adb."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tests.devices.adb.served_phones import served_phones
from tests.plugin_package.src.distrl_quiet.grayscale_phone import GrayscalePhone
from tests.plugin_package.src.distrl_quiet.patient_judge import PatientJudge

import distrl
from distrl.environments.device_env import DeviceEnv, open_device_env
from distrl.errors import ActionFailed, DeviceTimeout, UnknownTask, UsageError
from distrl.records import Action, Back, Home, Recents, Screen, Task
from phonesim.gymnasium_env import KINDS
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

NAP = Task("mine.nap/test/0", "Näp – 午睡", "general", "mine.nap", "test", 0, (), "easy", 4)
ALARM, _ = load_task("clock.turn_off_alarm/test/0")
REGISTERED = {
    "devices": {"kind": "grayscale"},
    "tasks.source": "registered",
    "judge.kind": "patient",
}
NAME = "distrl.environments.device_env:Device-v0"


@pytest.fixture(autouse=True)
def quiet_parts() -> None:
    distrl.register_device("grayscale", GrayscalePhone)
    distrl.register_judge("patient", PatientJudge)
    for number in range(3):
        distrl.register_task(replace(NAP, id=f"mine.nap/test/{number}", seed=number))


def action(kind: str, text: str = "") -> dict[str, Any]:
    point = np.array([0.5, 0.5], dtype=np.float32)
    return {"kind": KINDS.index(kind), "point": point, "to": point, "text": text}


def checked(environment: gymnasium.Env[Any, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment.unwrapped)


def test_a_registered_device_passes_gymnasiums_own_checker() -> None:
    environment = gymnasium.make(NAME, overrides=REGISTERED, render_mode="rgb_array")
    checked(environment)
    observed, info = environment.reset(options={"task": "mine.nap/test/2"})
    assert observed["instruction"] == NAP.instruction
    assert info["task"].seed == 2
    assert (observed["screen"].max(2) == observed["screen"].min(2)).all()  # no colour
    environment.step(action("open_app", "Clock"))
    *_, reward, terminated, truncated, info = environment.step(action("done"))
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    environment.close()


def test_several_devices_are_a_vector() -> None:
    many = gymnasium.make_vec(NAME, num_envs=2, vectorization_mode="sync", overrides=REGISTERED)
    observed, _ = many.reset(seed=1)
    assert observed["screen"].shape == (2, 720, 360, 3)
    one, two = (each.unwrapped.device for each in many.envs)  # type: ignore[attr-defined]
    assert one is not two
    many.step(many.action_space.sample())
    many.close()


@pytest.mark.slow
def test_several_devices_in_processes_of_their_own() -> None:
    """What a script registers is not in them: settings name what is installed."""
    overrides = {"tasks.templates": ["clock.*"]}
    many = gymnasium.make_vec(NAME, num_envs=2, vectorization_mode="async", overrides=overrides)
    observed, _ = many.reset(seed=1)
    assert observed["screen"].shape == (2, 720, 360, 3)
    many.close()


@pytest.fixture
def over_adb() -> Iterator[gymnasium.Env[Any, Any]]:
    with served_phones(2) as served:  # the checker makes a second one beside the first
        android = {"adb_port": served.adb.port, "stillness": {"reaction_seconds": 0.0}}
        devices = {"kind": "adb", "count": 1, "android": android}
        chosen = {"devices": devices, "tasks.templates": ["clock.*"]}
        environment = gymnasium.make(NAME, overrides=chosen)
        yield environment
        environment.close()


@pytest.mark.slow
def test_a_phone_over_adb_passes_it_too(over_adb: gymnasium.Env[Any, Any]) -> None:
    checked(over_adb)


class Stubborn(SimulatedDevice):
    """Cannot go back, is lost at home, and lies down for the apps that were open."""

    def perform(self, action: Action) -> Screen:
        if isinstance(action, Back):
            raise ActionFailed("no way back")
        if isinstance(action, Home):
            raise DeviceTimeout("nobody answers")
        screen = super().perform(action)
        return Screen(np.rot90(screen.pixels).copy()) if isinstance(action, Recents) else screen


@pytest.fixture
def stubborn() -> DeviceEnv:
    return DeviceEnv(Stubborn("stubborn"), [ALARM], FactJudge)  # type: ignore[arg-type]


def test_what_cannot_be_done_is_noted_and_the_episode_goes_on(stubborn: DeviceEnv) -> None:
    before, _ = stubborn.reset(seed=1)
    after, reward, terminated, truncated, info = stubborn.step(action("back"))
    assert (after["screen"] == before["screen"]).all()
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["note"] == "step 1: ActionFailed: no way back"
    asked = stubborn.step(action("ask_user", "Which alarm?"))[-1]
    assert asked["reply"]
    assert not {"note", "reply"} & set(stubborn.step(action("wait"))[-1])


def test_a_lost_device_truncates_without_a_verdict(stubborn: DeviceEnv) -> None:
    stubborn.reset(seed=1)
    stubborn.step(action("ask_user", "Which alarm?"))
    _, reward, terminated, truncated, info = stubborn.step(action("home"))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["fault"] == "DeviceTimeout: nobody answers"
    assert not {"reason", "reply"} & set(info)
    with pytest.raises(gymnasium.error.ResetNeeded):
        stubborn.step(action("wait"))
    stubborn.reset()


def test_a_screen_that_was_turned_is_scaled(stubborn: DeviceEnv) -> None:
    stubborn.reset(seed=1)
    assert stubborn.step(action("recents"))[0] in stubborn.observation_space


def test_the_limit_of_steps_truncates() -> None:
    environment = DeviceEnv(SimulatedDevice("phone"), [NAP], PatientJudge)
    environment.reset()
    *_, terminated, truncated, info = [environment.step(action("wait")) for _ in range(4)][-1]
    assert (terminated, truncated, info["ending"]) == (False, True, "step_limit")


def test_an_instruction_of_other_letters_still_fits() -> None:
    environment = DeviceEnv(SimulatedDevice("phone"), [NAP], PatientJudge)
    longer = replace(NAP, instruction="Засни" + "!" * 500)
    observed, info = environment.reset(options={"task": longer})
    assert observed in environment.observation_space
    assert observed["instruction"].startswith("?????!!!")
    assert info["task"] == longer


def test_what_makes_no_sense_is_said() -> None:
    with pytest.raises(UsageError, match="without a task"):
        DeviceEnv(SimulatedDevice("phone"), [], PatientJudge)
    environment = DeviceEnv(SimulatedDevice("phone"), [NAP], PatientJudge)
    with pytest.raises(UnknownTask, match=r"'nap': there are 1, such as mine\.nap/test/0"):
        environment.reset(options={"task": "nap"})
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(action("done"))
    later = {"judge.kind": "vlm", "judge.server": "http://localhost:1/v1", "judge.model": "m"}
    with pytest.raises(UsageError, match="judges after the episode"):
        open_device_env(None, later)


def test_settings_are_opened_in_the_split_that_they_evaluate_on() -> None:
    environment = open_device_env("quick_start", tasks=3)
    assert {task.split for task in environment.tasks} == {"undemonstrated_test"}
    environment.close()
    environment = open_device_env(None, {"tasks.templates": ["clock.*"]}, split="train", tasks=3)
    assert {task.split for task in environment.tasks} == {"train"}
    environment.close()


class Counted(GrayscalePhone):
    closed = 0

    def close(self) -> None:
        self.closed += 1
        super().close()


def test_a_device_is_closed_once_by_what_opened_it() -> None:
    distrl.register_device("counted", Counted)
    opened = open_device_env(None, REGISTERED | {"devices": {"kind": "counted"}})
    given = DeviceEnv(Counted("mine"), [NAP], PatientJudge)
    for environment in (opened, given):
        environment.close()
        environment.close()
        assert isinstance(environment.device, Counted)
        assert environment.device.closed == 1


def test_closing_closes_the_device() -> None:
    environment = open_device_env(None, REGISTERED)
    environment.reset()
    environment.close()
    with pytest.raises(distrl.errors.DeviceNotReady):
        environment.device.screen()
