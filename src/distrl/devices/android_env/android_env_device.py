"""An environment of DeepMind's AndroidEnv as a `Device`.

Touches are AndroidEnv steps (touch, lift); keys, text, apps and the view hierarchy go through its
adb. How clean a reset leaves the phone depends on the environment (its task's reset steps) and on
`fresh_start`, which runs after those steps if given.

AndroidEnv has its own tasks, which end episodes and give rewards. The rewards are summed in
`reward`. Once the environment has `ended` its episode, a further step would silently start another
one, so actions leave the phone unchanged until the reset. Install it with `distrl[android-env]`.

AndroidEnv mistakes a failing command for a broken connection: it kills the adb server, also for
all other phones, and retries. So `AndroidEnvShell` appends to each command one that always succeeds
and prints the first one's exit code. AndroidEnv still resends a command whose answer is late or
lost. So each command has an id, and creates a folder of that name on the phone: if the folder
exists, the phone does not run the command a second time. AndroidEnv's fake simulator answers every
command with the same text and no marker; there the status OK counts as success.
"""

from __future__ import annotations

import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from android_env.components.action_type import ActionType
from android_env.components.errors import AndroidEnvError
from android_env.env_interface import AndroidEnvInterface
from android_env.proto.adb_pb2 import AdbRequest, AdbResponse

from distrl.devices.adb.adb import PATIENCE, ShellResult
from distrl.devices.adb.adb_device import FreshStart
from distrl.devices.adb.adb_shell import PhoneShell, exit_code
from distrl.devices.adb.android_device import AndroidDevice, AndroidDeviceSettings
from distrl.errors import DeviceDisconnected, DeviceError, DeviceNotReady, DeviceTimeout
from distrl.records import Pixels

IDS = "/data/local/tmp"  # a folder that every Android lets a shell write to
FAULTS = ("relaunch_count_execute_action", "relaunch_count_fetch_observation")  # keys of stats()


class AndroidEnvDevice(AndroidDevice):
    """Implements `Device`. Owns its environment: a reset opens it, `close` closes it."""

    def __init__(
        self,
        name: str,
        open_environment: Callable[[], AndroidEnvInterface],
        settings: AndroidDeviceSettings | None = None,
        fresh_start: FreshStart | None = None,
    ) -> None:
        super().__init__(name, settings)
        self.open_environment = open_environment
        self.fresh_start = fresh_start
        self.reward = 0.0  # sum of the rewards of AndroidEnv's own task since the reset
        self.ended = False  # whether AndroidEnv's own task has ended its episode
        self._environment: AndroidEnvInterface | None = None
        self._shell: AndroidEnvShell | None = None

    @property
    def shell(self) -> AndroidEnvShell:
        if self._shell is None:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
        return self._shell

    def reset(self, seed: int) -> None:
        if self._state.failure is not None:
            self.close()  # AndroidEnv relaunches its simulator only after some faults
        self.reward, self.ended = 0.0, False
        super().reset(seed)

    def close(self) -> None:
        if self._environment is not None:
            self._environment.close()
        self._environment = self._shell = None
        super().close()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with super().at_work():
            try:
                yield
            except AndroidEnvError as error:
                raise typed(self.name, error) from error

    def _reach(self) -> None:
        if self._environment is None:
            self._environment = self.open_environment()
            self._shell = AndroidEnvShell(self.name, self._environment)
        self._environment.reset()

    def _clean(self, seed: int) -> None:
        if self.fresh_start is not None:
            self.fresh_start(self.shell, seed)

    def _wake(self) -> None:
        """Do nothing: AndroidEnv keeps the screen on."""

    def _take(self) -> Pixels:
        """Take a step that only observes."""
        if self.ended:
            assert self._picture is not None
            return self._picture
        return self._step(ActionType.REPEAT, 0.0, 0.0)

    def _touch(self, x: float, y: float, to_x: float, to_y: float, seconds: float) -> None:
        """Touch, move step by step for `seconds`, and lift."""
        begun, share = time.monotonic(), 0.0
        while share < 1.0 and not self.ended:
            self._step(ActionType.TOUCH, x + share * (to_x - x), y + share * (to_y - y))
            passed = time.monotonic() - begun
            share = passed / seconds if passed < seconds else 1.0
        for kind in (ActionType.TOUCH, ActionType.LIFT):
            if not self.ended:
                self._step(kind, to_x, to_y)

    def _step(self, kind: int, x: float, y: float) -> Pixels:
        """Step the environment; record its reward and whether it ended; return its picture."""
        assert self._environment is not None
        action = {"action_type": np.array(kind), "touch_position": np.array([x, y])}
        for name in self._environment.action_spec():  # further fingers stay lifted
            if name.startswith("action_type_"):
                action[name] = np.array(ActionType.LIFT)
            elif name.startswith("touch_position_"):
                action[name] = np.zeros(2)
        before = self._faults()
        step = self._environment.step(action)
        if self._faults() > before:  # AndroidEnv itself would report the end of an episode
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


class AndroidEnvShell(PhoneShell):
    """Implements `PhoneShell`: each command is an `adb` process that AndroidEnv starts."""

    def __init__(self, serial: str, environment: AndroidEnvInterface) -> None:
        self.serial = serial
        self.environment = environment
        self._mark = f"distrl-{secrets.token_hex(8)}"
        self._sent = 0  # number of commands sent

    def shell(self, command: str, seconds: float = PATIENCE) -> ShellResult:
        line = self._once(f"{command} </dev/null 2>&1")
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
        if not mark:
            return ShellResult(code, b"", 0)
        refused, begun, output = output.partition(f"{self._mark}\n".encode())
        if not begun:
            raise DeviceDisconnected(
                f"device {self.serial}: AndroidEnv had no answer to `{command[:80]}` and sent it "
                f"again; the phone has not carried it out again ({refused[:200]!r}), and whether "
                "it did the first time is not known: reset it"
            )
        return ShellResult(output, b"", exit_code(self.serial, code))

    def _once(self, command: str) -> str:
        """Return a shell line that runs a command only once, however often the line is sent.

        The next line removes the folder of this id, so that only one empty folder is left. The line
        ends with `echo`, which succeeds: otherwise AndroidEnv would resend it.
        """
        before, self._sent = self._sent, self._sent + 1
        folder = f"{IDS}/{self._mark}"
        return (
            f"rmdir {folder}-{before} 2>/dev/null; mkdir {folder}-{self._sent} 2>&1 && "
            f"echo {self._mark} && {command}; echo {self._mark} $?"
        )


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
