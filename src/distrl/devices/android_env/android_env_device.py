"""An environment of DeepMind's AndroidEnv as a `Device`.

Touches are AndroidEnv steps (touch, lift); keys, text, apps and the view hierarchy go through its
adb. How clean a reset leaves the phone depends on the environment (its task's reset steps) and on
`fresh_start`, which runs after it if given.

AndroidEnv has tasks of its own, which end episodes and give rewards. The rewards are summed in
`reward`; once the environment has `ended` its episode, a further step would silently start another
one, so actions leave the phone unchanged until the reset. Install it with `distrl[android-env]`.

AndroidEnv takes a command that fails for a broken connection: it kills the adb server, for every
other phone too, and retries. So `AndroidEnvShell` appends to each command one that always succeeds
and prints the first one's exit code. AndroidEnv's fake simulator answers every command with the
same text and without that marker; there the status OK counts as success.
"""

from __future__ import annotations

import secrets
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from android_env.components.action_type import ActionType
from android_env.components.errors import AndroidEnvError
from android_env.proto.adb_pb2 import AdbRequest, AdbResponse

from distrl.devices.adb.adb import PATIENCE, ShellResult
from distrl.devices.adb.adb_device import KEYS, DeviceStatus
from distrl.devices.adb.android_apps import (
    check_nothing_crashed,
    find_package,
    launchable_apps,
    start_app,
)
from distrl.devices.adb.fresh_start import FreshStart
from distrl.devices.adb.stillness import StillnessSettings, lit_picture
from distrl.devices.adb.uiautomator import dump_hierarchy, read_hierarchy
from distrl.devices.adb.unicode_typing import Typing, choose_typing
from distrl.errors import DeviceDisconnected, DeviceError, DeviceNotReady, DeviceTimeout
from distrl.hierarchy import Element
from distrl.records import (
    ONLY_SAID,
    Action,
    Back,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Pixels,
    Screen,
    Swipe,
    Tap,
    TypeText,
    Wait,
)

FAULTS = ("relaunch_count_execute_action", "relaunch_count_fetch_observation")  # in its stats


class Environment(Protocol):
    """What we use of an `AndroidEnvInterface`, wrapped or not."""

    def action_spec(self) -> Mapping[str, Any]: ...

    def reset(self) -> Any: ...

    def step(self, action: Any, /) -> Any: ...

    def stats(self) -> Mapping[str, Any]: ...

    def execute_adb_call(self, call: Any, /) -> Any: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class AndroidEnvSettings:
    """Deadlines in seconds, and names for apps."""

    stillness: StillnessSettings = field(default_factory=StillnessSettings)
    command_seconds: float = 15.0
    hierarchy_seconds: float = 20.0
    blank_seconds: float = 5.0  # a black or white screen is looked at again for this long
    long_press_seconds: float = 0.8
    watch_crashes: bool = True  # looks for a crash dialog after each action
    app_names: Mapping[str, str] = field(default_factory=dict)


class AndroidEnvDevice:
    """Implements `Device`. It owns its environment: opened at a reset, closed with the device."""

    def __init__(
        self,
        name: str,
        open_environment: Callable[[], Environment],
        settings: AndroidEnvSettings | None = None,
        fresh_start: FreshStart | None = None,
    ) -> None:
        self.name = name
        self.open_environment = open_environment
        self.settings = settings or AndroidEnvSettings()
        self.fresh_start = fresh_start
        self.reward = 0.0  # of AndroidEnv's own task, since the reset
        self.ended = False  # by AndroidEnv's own task
        self._environment: Environment | None = None
        self._shell: AndroidEnvShell | None = None
        self._typing: Typing | None = None
        self._picture: Pixels | None = None  # the last settled one
        self._launchable: dict[str, str] | None = None
        self._status = DeviceStatus(name)

    # The whole device --------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        if self._status.failure is not None:
            self.close()  # AndroidEnv relaunches its simulator after some faults, not after all
        self._status.begin()
        self._launchable, self.reward, self.ended = None, 0.0, False
        with self._at_work():
            if self._environment is None:
                self._environment = self.open_environment()
                self._shell = AndroidEnvShell(self.name, self._environment)
            self._environment.reset()
            if self.fresh_start is not None:
                self.fresh_start.begin(self.shell, seed)
            self._typing = choose_typing(self.shell)
            self._picture = self._settle(None)
            self._status.ready = True

    @property
    def seconds(self) -> float:
        return self._status.seconds

    @property
    def shell(self) -> AndroidEnvShell:
        if self._shell is None:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
        return self._shell

    def close(self) -> None:
        if self._environment is not None:
            self._environment.close()
        self._environment = self._shell = None
        self._status.end()
        self._picture = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Count device time, and remember a failure as a `DeviceError` until the reset."""
        with self._status.at_work():
            try:
                yield
            except AndroidEnvError as error:
                raise typed(self.name, error) from error

    # Seeing ------------------------------------------------------------------------------------

    def screen(self) -> Screen:
        self._status.check()
        if not self.ended:
            with self._at_work():
                self._picture = self._settle(None)
        assert self._picture is not None
        return Screen(self._picture)

    def elements(self) -> tuple[Element, ...]:
        self._status.check()
        with self._at_work():
            dump = dump_hierarchy(self.shell, self.settings.hierarchy_seconds)
            return read_hierarchy(dump, self.name)

    def _settle(self, before: Pixels | None) -> Pixels:
        return lit_picture(
            self._look,
            before,
            self.settings.stillness,
            device=self.name,
            blank_seconds=self.settings.blank_seconds,
        )

    def _look(self) -> Pixels:
        """Take a step that only observes."""
        if self.ended:
            assert self._picture is not None
            return self._picture
        return self._step(ActionType.REPEAT, 0.0, 0.0)

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> Screen:
        self._status.check()
        assert self._picture is not None
        if self.ended or isinstance(action, ONLY_SAID):
            return Screen(self._picture)
        with self._at_work():
            self._do(action)
            if self.settings.watch_crashes:
                check_nothing_crashed(self.shell, self.name, action)
            self._picture = self._settle(self._picture)
        return Screen(self._picture)

    def _do(self, action: Action) -> None:
        match action:
            case Tap(x, y):
                self._draw(x, y, x, y, 0.0)
            case LongPress(x, y):
                self._draw(x, y, x, y, self.settings.long_press_seconds)
            case Swipe(x, y, to_x, to_y, seconds):
                self._draw(x, y, to_x, to_y, seconds)
            case Back() | Home() | Enter():
                key = str(KEYS[type(action)])
                self.shell.run("input", "keyevent", key, seconds=self.settings.command_seconds)
            case TypeText(text):
                assert self._typing is not None
                if text:
                    self._typing.type(self.shell, text)
            case OpenApp(name):
                self._open_app(name)
            case Wait(seconds):  # on the phone's own clock
                self.shell.run("sleep", f"{seconds:g}", seconds=seconds + 10.0)

    def _draw(self, x: float, y: float, to_x: float, to_y: float, seconds: float) -> None:
        """Touch, move for `seconds` one step after the other, and lift."""
        begun, share = time.monotonic(), 0.0
        while share < 1.0 and not self.ended:
            self._step(ActionType.TOUCH, x + share * (to_x - x), y + share * (to_y - y))
            passed = time.monotonic() - begun
            share = passed / seconds if passed < seconds else 1.0
        for kind in (ActionType.TOUCH, ActionType.LIFT):
            if not self.ended:
                self._step(kind, to_x, to_y)

    def _step(self, kind: int, x: float, y: float) -> Pixels:
        """Step the environment: return its picture, record its reward and its end."""
        assert self._environment is not None
        action = {"action_type": np.array(kind), "touch_position": np.array([x, y])}
        for name in self._environment.action_spec():  # further fingers stay up
            if name.startswith("action_type_"):
                action[name] = np.array(ActionType.LIFT)
            elif name.startswith("touch_position_"):
                action[name] = np.zeros(2)
        before = self._faults()
        step = self._environment.step(action)
        if self._faults() > before:  # AndroidEnv itself would call this the end of an episode
            raise DeviceDisconnected(
                f"device {self.name}: AndroidEnv could not act on its simulator or see its screen; "
                "reset it"
            )
        self.reward += float(step.reward or 0.0)
        self.ended = bool(step.last())
        return np.array(step.observation["pixels"], dtype=np.uint8)

    def _faults(self) -> int:
        assert self._environment is not None
        stats = self._environment.stats()
        return sum(int(stats.get(name, 0)) for name in FAULTS)

    def _open_app(self, name: str) -> None:
        if self._launchable is None:
            self._launchable = launchable_apps(self.shell)
        package = find_package(name, self._launchable, self.settings.app_names)
        if package is not None:  # without such an app the phone is left unchanged
            start_app(self.shell, package, self._launchable[package], self.settings.command_seconds)


class AndroidEnvShell:
    """Implements `PhoneShell`. Each command is a process of `adb`, started by AndroidEnv."""

    def __init__(self, serial: str, environment: Environment) -> None:
        self.serial = serial
        self.environment = environment
        self._mark = f"distrl-{secrets.token_hex(8)}"

    def shell(self, command: str, seconds: float = PATIENCE) -> ShellResult:
        line = f"{command} </dev/null 2>&1; echo {self._mark} $?"
        call = AdbRequest(
            generic=AdbRequest.GenericRequest(args=["shell", line]), timeout_sec=seconds
        )
        try:
            response = self.environment.execute_adb_call(call)
        except AndroidEnvError as error:
            raise typed(self.serial, error) from error
        if response.status != AdbResponse.Status.OK:
            name = AdbResponse.Status.Name(response.status)
            raise DeviceDisconnected(
                f"device {self.serial}: AndroidEnv answers `{command[:80]}` with {name}: "
                f"{response.error_message[:300]}"
            )
        output, mark, code = bytes(response.generic.output).rpartition(f"{self._mark} ".encode())
        return ShellResult(output, b"", int(code)) if mark else ShellResult(code, b"", 0)

    def run(self, *arguments: str, seconds: float = PATIENCE) -> str:
        return self.shell(shlex.join(arguments), seconds).checked_text(self.serial, arguments)

    def close(self) -> None:
        """Nothing stays open."""


def typed(serial: str, error: Exception) -> DeviceError:
    """Map AndroidEnv's errors to ours: a timeout, or a lost device."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, subprocess.TimeoutExpired):
            return DeviceTimeout(
                f"device {serial}: no answer within {cause.timeout:g} s through AndroidEnv: {error}"
            )
        cause = cause.__cause__
    return DeviceDisconnected(
        f"device {serial}: AndroidEnv has lost it: {type(error).__name__}: {error}; reset it, and "
        "see with `distrl devices` how the phone is"
    )
