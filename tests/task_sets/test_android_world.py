"""AndroidWorld's protocol on a real socket: whole episodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from tests.task_sets.android_world_server import LightSwitch, android_world

from distrl.episodes.episode import run_episode
from distrl.errors import (
    DeviceDisconnected,
    DeviceError,
    DeviceNotReady,
    DeviceTimeout,
    InvalidAction,
    InvalidSetting,
    JudgeError,
    UnknownTask,
)
from distrl.records import (
    Action,
    Answer,
    Back,
    Decision,
    Done,
    Ending,
    Enter,
    Home,
    LongPress,
    Observation,
    OpenApp,
    Swipe,
    Tap,
    Trajectory,
    TypeText,
    Wait,
)
from distrl.task_sets import android_world_container
from distrl.task_sets.android_world import (
    AndroidWorldJudge,
    AndroidWorldPhone,
    android_world_tasks,
    json_action,
)
from distrl.task_sets.android_world_container import AndroidWorldContainer


class Script:
    """Decides what it was told to, in turn."""

    def __init__(self, *actions: Action) -> None:
        self._left = list(actions)

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(self._left.pop(0)) for _ in observations]


def play(host: AndroidWorldContainer, which: int, *actions: Action) -> Trajectory:
    task = list(android_world_tasks(host))[which]
    with AndroidWorldPhone("phone", host) as phone:
        return run_episode(task, phone, Script(*actions), AndroidWorldJudge(phone))


def container(url: str, deadline_s: float = 10.0) -> AndroidWorldContainer:
    return AndroidWorldContainer.open(url, deadline_s, deadline_s)


def test_an_episode_is_initialised_stepped_scored_and_torn_down() -> None:
    phone = LightSwitch()
    with android_world(phone) as url:
        episode = play(container(url), 0, Tap(0.5, 0.75), Done())
    assert episode.ending is Ending.SUCCESS
    assert episode.verdict is not None
    assert episode.verdict.judge == "android_world"
    assert episode.task.instruction == "Switch the light on 0"
    assert episode.screens[0].pixels.shape == (20, 10, 3)
    assert [int(screen.pixels.max()) for screen in episode.screens] == [0, 255, 255]
    assert phone.actions == [{"action_type": "click", "x": 5, "y": 15}]
    assert not phone.initialised
    done = [call for call in phone.calls if "task/" in call and "goal" not in call]
    assert done == ["/task/initialize SwitchOn", "/task/score SwitchOn", "/task/tear_down SwitchOn"]


def test_a_failure_has_its_score_for_a_reason_and_an_answer_reaches_the_task() -> None:
    with android_world(LightSwitch()) as url:
        failed = play(container(url), 0, Tap(0.5, 0.25), Done())
        answered = play(container(url), 2, Answer("black"))
        wrong = play(container(url), 2, Answer("white"))
    assert failed.ending is Ending.FAILURE
    assert failed.verdict is not None
    assert failed.verdict.reason == "score 0"
    assert answered.ending is Ending.SUCCESS
    assert wrong.ending is Ending.FAILURE


def test_the_suite_is_listed_and_can_be_drawn_anew() -> None:
    phone = LightSwitch()
    with android_world(phone) as url:
        host = container(url)
        ids = [task.id for task in android_world_tasks(host)]
        host.new_suite(seed=7)
        host.close()
    assert ids == [
        "android_world.SwitchOn/test/0",
        "android_world.SwitchOn/test/1",
        "android_world.SayColour/test/0",
    ]
    assert phone.seed == 7


def test_the_same_task_again_finds_nothing_of_the_attempt_before() -> None:
    phone = LightSwitch()
    with android_world(phone) as url:
        host = container(url)
        task = next(android_world_tasks(host))
        with AndroidWorldPhone("phone", host) as device:
            judge = AndroidWorldJudge(device)
            for _ in range(3):  # the server refuses what was not torn down
                episode = run_episode(task, device, Script(Tap(0.5, 0.9), Done()), judge)
                assert episode.ending is Ending.SUCCESS
    assert not phone.initialised


# What goes wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        ("hang_up", DeviceDisconnected),
        ("slow", DeviceTimeout),
        ("garbage", DeviceDisconnected),
        ("500", DeviceDisconnected),
    ],
)
def test_a_fault_in_the_middle_is_a_lost_device_and_the_next_episode_is_clean(
    trouble: str, kind: type[DeviceError]
) -> None:
    phone = LightSwitch()
    with android_world(phone) as url:
        host = container(url, deadline_s=1.5 if trouble == "slow" else 30.0)
        task = next(android_world_tasks(host))
        device = AndroidWorldPhone("phone", host)
        judge = AndroidWorldJudge(device)
        phone.broken["/execute_action"] = trouble
        episode = run_episode(task, device, Script(Tap(0.5, 0.9), Done()), judge)
        assert episode.ending is Ending.DEVICE_LOST
        assert episode.verdict is None
        assert kind.__name__ in episode.notes[0]
        with pytest.raises(DeviceNotReady):
            device.screen()
        acted = phone.calls.count("/execute_action")
        assert acted == 1  # nobody knows whether it was done, so it is not done again
        phone.broken.clear()
        again = run_episode(task, device, Script(Tap(0.5, 0.9), Done()), judge)
        assert again.ending is Ending.SUCCESS
        device.close()


def test_what_only_looks_is_tried_again() -> None:
    phone = LightSwitch(broken={"/task/goal": "hang_up"})
    with android_world(phone) as url:
        host = container(url)
        with pytest.raises(DeviceDisconnected):
            next(android_world_tasks(host))
        host.close()
    assert phone.calls.count("/task/goal SwitchOn") == 3


def test_without_a_score_there_is_no_verdict() -> None:
    phone = LightSwitch(broken={"/task/score": "500"})
    with android_world(phone) as url:
        episode = play(container(url), 0, Done())
    assert episode.ending is Ending.JUDGE_UNAVAILABLE
    assert episode.verdict is None


@pytest.mark.parametrize(
    ("path", "answer", "error", "said"),
    [
        ("/screenshot", '{"pixels":' + "[" * 100_000, DeviceDisconnected, "something else"),
        ("/screenshot", '{"pixels": "' + "x" * 70_000, DeviceDisconnected, "more than 65,536"),
        ("/screenshot", '{"pixels": [[1, 2], [3]]}', DeviceDisconnected, "something else"),
        ("/screenshot", "[]", DeviceDisconnected, "something else"),
        ("/screenshot", "trickle", DeviceTimeout, r"no answer within 0\.3 s"),
        ("/suite/task_length", '{"length": 1000000000000}', DeviceDisconnected, "10000"),
        ("/suite/task_length", '{"length": -1}', DeviceDisconnected, "-1"),
        ("/task/goal", '{"goal": "' + "x" * 20_000 + '"}', DeviceDisconnected, "xxx"),
    ],
    ids=["deep", "large", "ragged", "a_list", "trickling", "endless", "negative", "long"],
)
def test_answers_are_bounded_in_size_depth_and_time(
    monkeypatch: pytest.MonkeyPatch, path: str, answer: str, error: type[Exception], said: str
) -> None:
    monkeypatch.setattr(android_world_container, "MAX_ANSWER", 65_536)
    with android_world(LightSwitch(broken={path: answer})) as url:
        host = container(url, deadline_s=0.3 if answer == "trickle" else 30.0)
        with pytest.raises(error, match=said):
            host.pixels() if path == "/screenshot" else list(android_world_tasks(host))
        host.close()


def test_strange_servers_and_names_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="http://127"):
        AndroidWorldContainer.open("localhost:5000")
    with pytest.raises(DeviceDisconnected, match="container runs"):
        container("http://127.0.0.1:9")
    phone = LightSwitch()
    with android_world(phone) as url:
        host = container(url)
        with pytest.raises(UnknownTask, match="404"):
            host.combinations("Nothing")
        device = AndroidWorldPhone("phone", host)
        with pytest.raises(DeviceNotReady):
            device.perform(Back())
        with pytest.raises(JudgeError, match="before a task"):
            AndroidWorldJudge(device).verdict(None)
        task = next(android_world_tasks(host))
        device.reset(0)
        with pytest.raises(UnknownTask, match="no task of AndroidWorld"):
            AndroidWorldJudge(device).begin(dataclasses.replace(task, id="notes.create/train/1"))
        device.close()


@pytest.mark.parametrize(
    ("action", "written"),
    [
        (Tap(1.0, 1.0), {"action_type": "click", "x": 99, "y": 199}),
        (LongPress(0.0, 0.5), {"action_type": "long_press", "x": 0, "y": 100}),
        (Swipe(0.5, 0.8, 0.5, 0.2), {"action_type": "scroll", "direction": "down"}),
        (Swipe(0.5, 0.2, 0.5, 0.8), {"action_type": "scroll", "direction": "up"}),
        (Swipe(0.9, 0.5, 0.1, 0.4), {"action_type": "scroll", "direction": "right"}),
        (Swipe(0.1, 0.5, 0.9, 0.4), {"action_type": "scroll", "direction": "left"}),
        (TypeText("milk"), {"action_type": "input_text", "text": "milk"}),
        (OpenApp("Clock"), {"action_type": "open_app", "app_name": "Clock"}),
        (Back(), {"action_type": "navigate_back"}),
        (Home(), {"action_type": "navigate_home"}),
        (Enter(), {"action_type": "keyboard_enter"}),
        (Wait(1.0), {"action_type": "wait"}),
    ],
)
def test_actions_as_android_world_performs_them(action: Action, written: dict[str, Any]) -> None:
    assert json_action(action, (100, 200)) == written


def test_what_is_only_said_is_not_performed() -> None:
    with pytest.raises(InvalidAction):
        json_action(Done(), (100, 200))
