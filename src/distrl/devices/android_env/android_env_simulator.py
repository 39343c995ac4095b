"""A phone behind adb as a simulator of DeepMind's AndroidEnv: a handset, or our served phone.

AndroidEnv itself supports only emulators over gRPC. With this simulator, all of AndroidEnv
(coordinator, task manager, device settings, wrappers) works with any phone that adb lists, through
AndroidEnv's own `AdbController`:

    with closing(open_environment(AdbSimulatorSettings("127.0.0.1:7411"))) as environment:
        environment.reset()
        environment.step({"action_type": np.array(0), "touch_position": np.array([0.5, 0.5])})

The path of a finger is collected while it is down and sent when it is lifted, as one tap or swipe
of the same duration: over adb, a press sent in parts would take as long as its slowest part. No
command is sent twice (`OnceAdbController`): a tap whose answer was lost may have happened. Note
that creating an `AdbController` removes ANDROID_HOME from this process's environment.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from android_env.components import (
    adb_log_stream,
    config_classes,
    coordinator,
    device_settings,
    errors,
    task_manager,
)
from android_env.components.adb_controller import AdbController
from android_env.components.simulators.base_simulator import BaseSimulator
from android_env.environment import AndroidEnv
from android_env.proto.task_pb2 import Task

from distrl.devices.adb.android_tools import find_tool
from distrl.devices.adb.screen_capture import read_png
from distrl.errors import BrokenPicture
from distrl.records import Pixels

Touch = tuple[int, int, bool, int]  # x, y, whether the finger is down, which finger
CONNECTED = (b"connected to", b"already connected")
TAP_SECONDS = 0.3  # longest tap; a long press begins at 0.4 or 0.5


@dataclass(frozen=True, slots=True)
class AdbSimulatorSettings:
    """Which phone, and how to reach it."""

    serial: str  # as adb lists it; to a HOST:PORT we connect first
    adb_port: int = 5037
    command_seconds: float = 30.0


class AdbSimulator(BaseSimulator):  # type: ignore[misc]  # android_env ships no types
    """Implements AndroidEnv's `BaseSimulator`; key codes are those of Android."""

    def __init__(self, settings: AdbSimulatorSettings) -> None:
        super().__init__(config_classes.SimulatorConfig())
        self.settings = settings
        self._adb: AdbController = self.create_adb_controller()
        self._begun = 0.0
        self._way: list[tuple[int, int]] = []  # path of the finger that is down

    def adb_device_name(self) -> str:
        return self.settings.serial

    def create_adb_controller(self) -> AdbController:
        return OnceAdbController(
            config_classes.AdbControllerConfig(
                adb_path=str(find_tool("adb")),
                adb_server_port=self.settings.adb_port,
                default_timeout=self.settings.command_seconds,
                device_name=self.settings.serial,
            )
        )

    def create_log_stream(self) -> ClosedLogStream:
        return ClosedLogStream(self._adb.command_prefix())

    def _launch_impl(self) -> None:
        """Connect to the phone if it is on the network, and wait until adb can use it."""
        self._way.clear()
        if ":" in self.settings.serial:
            said = self._adb.execute_command(
                ["connect", self.settings.serial], device_specific=False
            )
            if not said.startswith(CONNECTED):
                raise errors.SimulatorError(said.decode("utf-8", "replace").strip())
        self._adb.execute_command(["wait-for-device"])

    def send_touch(self, touches: list[Touch]) -> None:
        """Follow the first finger only; adb has no command for several fingers."""
        x, y, down, _ = touches[0]
        if down:
            self._begun = self._begun if self._way else time.monotonic()
            self._way.append((x, y))
        elif self._way:
            way, self._way = self._way, []
            self._send("input", *_gesture(way, time.monotonic() - self._begun))

    def send_key(self, keycode: Any, event_type: str) -> None:
        """Send a key press when the key goes down; adb has no separate command for key up."""
        if event_type != "keyup":
            self._send("input", "keyevent", str(int(keycode)))

    def _send(self, *words: str) -> None:
        try:
            self._adb.execute_command(["shell", *words])
        except errors.AdbControllerError as error:
            raise errors.SendActionError(str(error)) from error

    def _get_screenshot_impl(self) -> Pixels:
        try:
            said = self._adb.execute_command(["exec-out", "screencap", "-p"])
            return read_png(said, self.settings.serial)
        except (errors.AdbControllerError, BrokenPicture) as error:
            raise errors.ReadObservationError(str(error)) from error


class OnceAdbController(AdbController):  # type: ignore[misc]
    """AndroidEnv's controller without its retry.

    If an answer is late or lost, AndroidEnv kills the adb server, which all other phones use too,
    and resends the command, although the phone may have carried it out.
    """

    def execute_command(
        self, args: list[str], timeout: float | None = None, device_specific: bool = True
    ) -> bytes:
        command = [*self.command_prefix(include_device_name=device_specific), *args]
        seconds = self._config.default_timeout if timeout is None else timeout
        try:
            return subprocess.check_output(
                command, stderr=subprocess.STDOUT, timeout=seconds, env=self._os_env_vars
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            said = (error.stdout or b"").decode("utf-8", "replace").strip()
            raise errors.AdbControllerError(
                f"adb {' '.join(args)[:200]}: {error}; it said {said[:300]!r}"
            ) from error


class ClosedLogStream(adb_log_stream.AdbLogStream):  # type: ignore[misc]
    """AndroidEnv's `adb logcat` stream, fixed so that its process and pipe do not outlive it.

    AndroidEnv kills the process without waiting for it, and leaks it if the stream is stopped
    before its thread has begun to read.
    """

    def __init__(self, adb_command_prefix: list[str]) -> None:
        super().__init__(adb_command_prefix)
        self._stopped = False

    def _get_stream_output(self) -> Iterator[str]:
        if self.was_stopped():
            return
        lines = super()._get_stream_output()
        with self._adb_subprocess:
            if self.was_stopped():
                super().stop_stream()
            yield from lines

    def was_stopped(self) -> bool:
        """Return whether the stream was stopped, possibly by another thread in the meantime."""
        return self._stopped

    def stop_stream(self) -> None:
        self._stopped = True
        if hasattr(self, "_adb_subprocess"):
            super().stop_stream()


def open_environment(settings: AdbSimulatorSettings, task: Task | None = None) -> AndroidEnv:
    """Open AndroidEnv on that phone, with an AndroidEnv task or none. The caller closes it."""
    simulator = AdbSimulator(settings)
    tasks = task_manager.TaskManager(task or Task())
    quiet = config_classes.DeviceSettingsConfig(
        show_touches=False,
        show_pointer_location=False,
        show_status_bar=True,
        show_navigation_bar=True,
    )
    runs = coordinator.Coordinator(
        simulator,
        tasks,
        device_settings=device_settings.DeviceSettings(simulator),
        config=config_classes.CoordinatorConfig(device_settings=quiet),
    )
    return AndroidEnv(simulator=simulator, coordinator=runs, task_manager=tasks)


def _gesture(way: list[tuple[int, int]], seconds: float) -> tuple[str, ...]:
    """Return the arguments of `input`. Android tells a tap from a long press by its duration."""
    (x, y), (to_x, to_y) = way[0], way[-1]
    if (x, y) == (to_x, to_y) and seconds < TAP_SECONDS:
        return "tap", str(x), str(y)
    points = (str(each) for each in (x, y, to_x, to_y))
    return "swipe", *points, str(round(1000 * seconds))
