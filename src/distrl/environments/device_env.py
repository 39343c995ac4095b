"""Any device as a Gymnasium environment: a registered one, a phone over adb, a web page.

    env = DeviceEnv(device, tasks, Judge)                 # a device, tasks and a judge of your own
    env = gymnasium.make(                                 # or what settings describe
        "distrl.environments.device_env:Device-v0", settings="miniwob", overrides={...}
    )

Actions are those of `phonesim.gymnasium_env`, which has the simulated phone with all its options.
`terminated`: the agent ended the task, or the task itself did; the reward is then 1 for success,
and 0 otherwise. `truncated`: the step limit was reached, or there is no verdict because the device
or the judge failed; `info["fault"]` says how. `info["note"]` says what the device could not carry
out, `info["reply"]` what the user replied. A device that cannot be reset raises its `DeviceError`;
the next reset may succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from distrl.devices.device import Device
from distrl.environments.opened_device import TASKS, OpenedDevice
from distrl.episodes.episode import Episode
from distrl.errors import NotInstalled, UnknownTask, UsageError
from distrl.judging.judge import Judge
from distrl.records import AskUser, Decision, Ending, Pixels, Split, Task

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError:
    raise NotInstalled(
        "a device as a Gymnasium environment needs gymnasium: pip install 'distrl[gym]'"
    ) from None

from phonesim.gymnasium_env import CHARACTERS, phone_action_space, read_action

if TYPE_CHECKING:
    from distrl.config.overrides import Overrides

Observed = dict[str, Any]
ID = "Device-v0"
INSTRUCTION = 400  # characters of an instruction in an observation, unless a task has more
ENDED = {Ending.SUCCESS, Ending.FAILURE, Ending.GAVE_UP}  # by the agent, or by the task
UNKNOWN = "?"  # for a character outside the observation space; `info["task"]` has them all


class DeviceEnv(gymnasium.Env[Observed, dict[str, Any]]):
    """One device and one task at a time; `judge` makes the judge of each episode."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        device: Device,
        tasks: Sequence[Task],
        judge: Callable[[Device], Judge],
        *,
        stop_on_success: bool = False,
        render_mode: str | None = None,
        close: Callable[[], None] | None = None,  # what closes the device; None: its own `close`
    ) -> None:
        if not tasks:
            raise UsageError("a DeviceEnv without a task: give it distrl.records.Task, one or more")
        self.device, self.tasks, self.render_mode = device, tuple(tasks), render_mode
        self._judge_for = judge
        self._stop_on_success = stop_on_success
        self._episode: Episode | None = None
        self._opened = ExitStack()
        self._opened.callback(close or device.close)
        device.reset(self.tasks[0].seed)  # the observation space needs the size of screens
        height, width, _ = device.screen().pixels.shape
        words = [task.instruction for task in self.tasks]
        self.action_space = phone_action_space()
        self.observation_space = spaces.Dict(
            {
                "screen": spaces.Box(0, 255, (height, width, 3), dtype=np.uint8),
                "instruction": spaces.Text(
                    max_length=max(INSTRUCTION, *map(len, words)),
                    min_length=0,
                    charset=CHARACTERS.union(*words),
                ),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begin a random task, or that of `options={"task": …}`, a `Task` or the id of one."""
        super().reset(seed=seed)
        wanted = (options or {}).get("task")
        task = self._drawn() if wanted is None else self._named(wanted)
        self._episode = Episode.begin(
            task,
            self.device,
            self._judge_for(self.device),
            stop_on_success=self._stop_on_success,
        )
        return self._observed(self._episode), {"task": self._episode.task}

    def _drawn(self) -> Task:
        return self.tasks[int(self.np_random.integers(len(self.tasks)))]

    def _named(self, wanted: Task | str) -> Task:
        if isinstance(wanted, Task):
            return wanted
        for task in self.tasks:
            if task.id == wanted:
                return task
        listed = ", ".join(task.id for task in self.tasks[:3])
        raise UnknownTask(f"task {wanted!r:.60}: there are {len(self.tasks)}, such as {listed}")

    def step(self, action: dict[str, Any]) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        episode = self._playing()
        noted, taken = len(episode.notes), len(episode.decisions)
        episode.take(Decision(read_action(action)))
        info: dict[str, Any] = {"task": episode.task}
        for decision in episode.decisions[taken:]:
            if isinstance(decision.action, AskUser):
                info["reply"] = decision.action.reply
        if notes := episode.notes[noted:]:
            info["note"] = "; ".join(notes)
        if not episode.ended:
            return self._observed(episode), 0.0, False, False, info
        return self._ended(episode, info)

    def _playing(self) -> Episode:
        if self._episode is None or self._episode.ended:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        return self._episode

    def _ended(
        self, episode: Episode, info: dict[str, Any]
    ) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        played = episode.trajectory()
        info |= {"ending": played.ending.value, "success": played.success}
        if played.verdict is None:
            info["fault"] = played.notes[-1] if played.notes else "the judge gave no verdict"
        else:
            info["reason"] = played.verdict.reason
        terminated = played.ending in ENDED
        return self._observed(episode), float(played.success), terminated, not terminated, info

    def _observed(self, episode: Episode) -> Observed:
        space = self.observation_space["instruction"]  # type: ignore[index]
        said = episode.task.instruction[: space.max_length]
        known = space.character_set
        return {
            "screen": self._scaled(episode.observation.screen.pixels),
            "instruction": "".join(each if each in known else UNKNOWN for each in said),
        }

    def _scaled(self, pixels: Pixels) -> Pixels:
        """Resize a screen of another size, such as a rotated one: actions use relative points."""
        height, width, _ = self.observation_space["screen"].shape  # type: ignore[index]
        if pixels.shape[:2] == (height, width):
            return pixels.copy()
        return np.asarray(Image.fromarray(pixels).resize((width, height)), dtype=np.uint8)

    def render(self) -> Pixels | None:
        if self.render_mode != "rgb_array" or self._episode is None:
            return None
        return self._scaled(self._episode.observation.screen.pixels)

    def close(self) -> None:
        """Close the device once: by its own `close`, or by what opened it."""
        self._opened.close()


def open_device_env(
    settings: str | Path | None = None,
    overrides: Overrides = (),
    *,
    split: Split | None = None,
    tasks: int = TASKS,
    seed: int = 0,
    render_mode: str | None = None,
) -> DeviceEnv:
    """Open what settings describe (`OpenedDevice.open`) as an environment; `close` closes it all.

    `split=None`: the split that the settings evaluate on.
    """
    with ExitStack() as failing:
        opened = failing.enter_context(
            OpenedDevice.open(settings, overrides, split=split, tasks=tasks, seed=seed)
        )
        environment = DeviceEnv(
            opened.device,
            opened.tasks,
            opened.judge_for,
            stop_on_success=opened.stop_on_success,
            render_mode=render_mode,
            close=opened.close,
        )
        failing.pop_all()
    return environment


for name in (ID, f"distrl/{ID}"):
    if name not in gymnasium.registry:
        gymnasium.register(id=name, entry_point="distrl.environments.device_env:open_device_env")
