"""Environments of DeepMind's AndroidEnv as devices of ours, on AndroidEnv's own fake simulator."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.devices.adb.test_adb_device import ERRAND

from distrl.devices.adb.stillness import AT_ONCE
from distrl.devices.device import Device
from distrl.errors import CommandRefused, DeviceDisconnected, DeviceNotReady
from distrl.records import (
    Action,
    Back,
    Done,
    LongPress,
    OpenApp,
    Swipe,
    Tap,
    TypeText,
    Unreadable,
    Wait,
)

pytest.importorskip("android_env", reason="AndroidEnv comes with distrl[android-env]")

from android_env import loader
from android_env.components import (
    config_classes,
    coordinator,
    device_settings,
    errors,
    fake_log_stream,
    task_manager,
)
from android_env.components.simulators.fake import fake_simulator
from android_env.environment import AndroidEnv
from android_env.proto.task_pb2 import Task
from google.protobuf import text_format

from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.android_env.android_env_device import AndroidEnvDevice

pytestmark = pytest.mark.usefixtures("own_surroundings")
HEIGHT, WIDTH = 64, 32
QUICK = AndroidDeviceSettings(
    stillness=AT_ONCE, launch_seconds=0.1, blank_seconds=0.1, long_press_seconds=0.1
)
LISTENING = """
    id: "listening"
    log_parsing_config { log_regexps {
        reward: "^reward: ([0-9.]+)$"
        episode_end: "^episode end$"
    } }
"""


class Log:
    """What AndroidEnv reads the rewards of a task from."""

    def __init__(self) -> None:
        self.lines: queue.Queue[str | None] = queue.Queue()

    def say(self, message: str) -> None:
        self.lines.put(f"         1553110400.424  5583  5658 D Tag: {message}")

    def kill(self) -> None:
        self.lines.put(None)

    def __iter__(self) -> Iterator[str]:
        while (line := self.lines.get()) is not None:
            yield line


class RecordingController(fake_simulator.FakeAdbController):  # type: ignore[misc]
    def __init__(self, commands: list[list[str]]) -> None:
        super().__init__(config_classes.AdbControllerConfig())
        self.commands = commands

    def execute_command(self, args: list[str], *rest: Any, **more: Any) -> bytes:
        self.commands.append(args)
        return bytes(super().execute_command(args, *rest, **more))


class RecordingSimulator(fake_simulator.FakeSimulator):  # type: ignore[misc]
    """AndroidEnv's own fake, that keeps what it was sent, logs on demand and can be broken."""

    def __init__(self) -> None:
        size = config_classes.FakeSimulatorConfig(screen_dimensions=(HEIGHT, WIDTH))
        super().__init__(size)
        self.touches: list[list[tuple[int, int, bool, int]]] = []
        self.commands: list[list[str]] = []
        self.log = Log()
        self.deaf = self.blind = False

    def create_adb_controller(self) -> RecordingController:
        return RecordingController(self.commands)

    def create_log_stream(self) -> Any:
        return fake_log_stream.FakeLogStream(log_generator=self.log)

    def send_touch(self, touches: list[tuple[int, int, bool, int]]) -> None:
        if self.deaf:
            raise errors.SendActionError("deaf")
        self.touches.append(touches)

    def _get_screenshot_impl(self) -> Any:
        if self.blind:
            raise errors.ReadObservationError("blind")
        return super()._get_screenshot_impl()


def environment_of(simulator: RecordingSimulator, task: Task, fingers: int) -> AndroidEnv:
    tasks = task_manager.TaskManager(task)
    runs = coordinator.Coordinator(
        simulator,
        tasks,
        device_settings=device_settings.DeviceSettings(simulator),
        config=config_classes.CoordinatorConfig(num_fingers=fingers),
    )
    return AndroidEnv(simulator=simulator, coordinator=runs, task_manager=tasks)


def device_on(simulator: RecordingSimulator, text: str = "", fingers: int = 1) -> AndroidEnvDevice:
    task = text_format.Parse(text, Task())
    return AndroidEnvDevice("fake", partial(environment_of, simulator, task, fingers), QUICK)


def test_every_action_passes_against_the_fake_simulator(tmp_path: Path) -> None:
    """Loaded by AndroidEnv's own loader, from files of its own kind."""
    (tmp_path / "task.textproto").write_text('id: "fake"\n')
    config = config_classes.AndroidEnvConfig(
        task=config_classes.FilesystemTaskConfig(path=str(tmp_path / "task.textproto")),
        simulator=config_classes.FakeSimulatorConfig(screen_dimensions=(HEIGHT, WIDTH)),
    )
    only = {each.name: "fake output" for each in ERRAND if isinstance(each, OpenApp)}
    settings = replace(QUICK, app_names=only)  # what the fake lists, as it answers everything
    device: Device = AndroidEnvDevice("fake", partial(loader.load, config), settings)
    with pytest.raises(DeviceNotReady):
        device.screen()
    actions: tuple[Action, ...] = (*ERRAND, TypeText("it's 100% fine"), Wait(0.1))
    with device:
        device.reset(0)
        for action in actions:
            screen = device.perform(action)
            assert (screen.height, screen.width) == (HEIGHT, WIDTH)
        spent, seen = device.seconds, screen.digest  # the fake draws each picture anew
        for said in (Done(), Unreadable("?", "no action")):
            assert device.perform(said).digest == seen
        assert device.seconds == spent > 0.0
        with pytest.raises(CommandRefused, match="wrote no hierarchy: 'fake output'"):
            device.elements()
        with pytest.raises(CommandRefused, match="not reset since"):
            device.perform(Back())
        device.reset(0)
        assert device.screen().pixels.any()
    with pytest.raises(DeviceNotReady):
        device.screen()
    with device:
        device.reset(1)  # brings it to life again
        assert device.screen().pixels.any()


@pytest.mark.parametrize("fingers", [1, 3])
def test_gestures_are_touches_of_the_first_finger(fingers: int) -> None:
    simulator = RecordingSimulator()
    with device_on(simulator, fingers=fingers) as device:
        device.reset(0)
        simulator.touches.clear()
        device.perform(Tap(0.25, 0.75))
        assert [each[0] for each in simulator.touches] == [
            (8, 48, True, 0), (8, 48, True, 0), (8, 48, False, 0),
        ]  # fmt: skip
        assert all([down for _, _, down, _ in each[1:]] == [False] * (fingers - 1)
                   for each in simulator.touches)  # fmt: skip
        simulator.touches.clear()
        device.perform(Swipe(0.5, 1.0, 0.5, 0.0, seconds=0.1))
        way = [each[0] for each in simulator.touches]
        assert (way[0], way[-2], way[-1]) == (
            (16, 63, True, 0),
            (16, 0, True, 0),
            (16, 0, False, 0),
        )
        assert [y for _, y, _, _ in way] == sorted((y for _, y, _, _ in way), reverse=True)
        simulator.touches.clear()
        device.perform(LongPress(0.5, 0.5))
        assert {(x, y) for [(x, y, _, _), *_] in simulator.touches} == {(16, 32)}
        assert [down for [(_, _, down, _), *_] in simulator.touches].count(False) == 1


def test_rewards_are_summed_and_an_ended_episode_begins_no_other_in_silence() -> None:
    simulator = RecordingSimulator()
    with device_on(simulator, LISTENING) as device:
        device.reset(0)
        for message in ("reward: 0.5", "reward: 1.5"):
            simulator.log.say(message)
        while device.reward < 2.0:  # the log is read by a thread of AndroidEnv's
            device.perform(Tap(0.5, 0.5))
        assert (device.reward, device.ended) == (2.0, False)
        simulator.log.say("episode end")
        while not device.ended:
            device.perform(Tap(0.5, 0.5))
        last = device.screen().digest
        sent, asked = len(simulator.touches), len(simulator.commands)
        for action in (Tap(0.5, 0.5), Back()):
            assert device.perform(action).digest == last
        assert (len(simulator.touches), len(simulator.commands)) == (sent, asked)
        device.reset(0)
        assert (device.reward, device.ended) == (0.0, False)
        device.perform(Tap(0.5, 0.5))
        assert len(simulator.touches) > sent


@pytest.mark.parametrize("fault", ["deaf", "blind"])
def test_what_androidenv_calls_an_end_is_a_lost_device_when_its_simulator_failed(
    fault: str,
) -> None:
    simulator = RecordingSimulator()
    with device_on(simulator) as device:
        device.reset(0)
        setattr(simulator, fault, True)
        with pytest.raises(DeviceDisconnected, match="could not act on its simulator or see"):
            device.perform(Tap(0.5, 0.5))
        assert not device.ended
        with pytest.raises(DeviceDisconnected, match="not reset since"):
            device.screen()
        setattr(simulator, fault, False)
        device.reset(0)
        assert device.perform(Tap(0.5, 0.5)).pixels.any()


def test_a_simulator_that_cannot_be_seen_at_the_reset_is_a_lost_device() -> None:
    simulator = RecordingSimulator()
    with device_on(simulator) as device:
        device.reset(0)
        simulator.blind = True
        with pytest.raises(DeviceDisconnected, match="ReadObservationError: blind"):
            device.reset(0)
        simulator.blind = False
        device.reset(0)
