"""The simulated phone as a Gymnasium environment.

Ids: `phonesim.gymnasium_env:Phone-General-v0` and `phonesim.gymnasium_env:Phone-Shopping-v0`. An
action names its kind and fills in the entries that this kind needs; the others are ignored. A
pinch around `point` spreads the fingers by 10 ** (2 · to[0] - 1): from 0.1 times to 10 times. The
user's reply to `ask_user`, whose question is `text`, is `info["reply"]`. New kinds are appended:
the number of an existing kind never changes. The reward is 1 when the task is done and 0 otherwise;
with `progress_reward=True`, each step earns what it adds to the share of the task's facts that are
reached, and nothing while something else is damaged. `terminated`: the agent said that it was done,
gave an answer or gave up. `truncated`: the step limit was reached, or the device failed
(`info["fault"]` says how). The last `info` also has `progress`, `missing` and `collateral`.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np

from distrl.errors import DeviceError, InvalidAction, NotInstalled, UnknownTask
from distrl.records import (
    FINAL_ACTIONS,
    Action,
    Answer,
    AskUser,
    Back,
    Done,
    DoubleTap,
    DragAndDrop,
    Enter,
    Family,
    Home,
    Impossible,
    LongPress,
    OpenApp,
    OpenShade,
    Pinch,
    Pixels,
    Power,
    Recents,
    Split,
    Swipe,
    Tap,
    Task,
    TypeText,
    VolumeDown,
    VolumeUp,
    Wait,
)
from phonesim.display import STANDARD, Display
from phonesim.drift import Drift
from phonesim.faults import NO_FAULTS, Faults
from phonesim.languages.language import language
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.instructions import characters_of
from phonesim.tasks.task_sets import load_task, template_names

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError:
    raise NotInstalled(
        "the phone as a Gymnasium environment needs gymnasium: pip install 'distrl[gym]'"
    ) from None

from phonesim.gymnasium_registration import register_environments

KINDS = (
    "tap", "long_press", "swipe", "type", "back", "home", "enter", "open_app", "wait", "answer",
    "done", "impossible",
    "double_tap", "drag_and_drop", "pinch", "recents", "open_shade", "volume_up", "volume_down",
    "power", "ask_user",
)  # fmt: skip
AT_A_POINT: dict[str, Callable[[float, float], Action]] = {
    "tap": Tap, "long_press": LongPress, "double_tap": DoubleTap,
}  # fmt: skip
WITH_TEXT: dict[str, Callable[[str], Action]] = {
    "type": TypeText, "open_app": OpenApp, "answer": Answer, "ask_user": AskUser,
}  # fmt: skip
PLAIN: dict[str, Action] = {
    "back": Back(), "home": Home(), "enter": Enter(), "wait": Wait(), "done": Done(),
    "impossible": Impossible(), "recents": Recents(), "open_shade": OpenShade(),
    "volume_up": VolumeUp(), "volume_down": VolumeDown(), "power": Power(),
}  # fmt: skip
MAX_TEXT = 200
NUMBERS = 1_000_000  # tasks of each template
CHARACTERS = frozenset(string.printable + "äöüéèñßçåøŽščřłąęıİğ’“”…–—€£×÷−°")

Observed = dict[str, Any]


class PhoneEnv(gymnasium.Env[Observed, dict[str, Any]]):
    """One phone and one task at a time."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        family: Family = "general",
        split: Split = "train",
        drift: Drift | None = None,
        faults: Faults = NO_FAULTS,
        stop_on_success: bool = False,
        render_mode: str | None = None,
        progress_reward: bool = False,
        display: Display = STANDARD,
    ) -> None:
        self.render_mode = render_mode
        self._progress_reward = progress_reward
        self._progress = 0.0  # rewarded so far
        self._split: Split = split
        self._names = template_names(split, family)
        if not self._names:
            raise UnknownTask(f"no tasks of the family {family!r} in the split {split!r}")
        self._stop_on_success = stop_on_success
        self.device = SimulatedDevice("gymnasium", drift=drift, faults=faults, display=display)
        self.judge = FactJudge(self.device)
        self.task: Task | None = None
        self._steps = 0
        spoken = (drift or Drift()).languages
        said_with = CHARACTERS.union(*(characters_of(language(name)) for name in spoken))
        self.action_space = phone_action_space()
        self.observation_space = spaces.Dict(
            {
                "screen": spaces.Box(0, 255, (display.height, display.width, 3), dtype=np.uint8),
                "instruction": spaces.Text(max_length=400, min_length=0, charset=said_with),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Start a task: drawn from the split, or `options={"task": "notes.create/train/7"}`."""
        super().reset(seed=seed)
        task_id = (options or {}).get("task") or self._draw_task()
        task, _ = load_task(task_id)
        self.device.reset(task.seed)
        self.task = self.judge.begin(task)
        self._steps, self._progress = 0, 0.0
        return self._observed(self.device.screen().pixels), {"task": self.task}

    def _draw_task(self) -> str:
        name = self._names[int(self.np_random.integers(len(self._names)))]
        return f"{name}/{self._split}/{int(self.np_random.integers(NUMBERS))}"

    def step(self, action: dict[str, Any]) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        task = self._current_task()
        act = read_action(action)
        self._steps += 1
        try:
            pixels = self.device.perform(act).pixels
        except DeviceError as error:
            info = {"task": task, "fault": f"{type(error).__name__}: {error}"}
            return self._observed(self.device.phone.frame()), 0.0, False, True, info
        answer = act.text if isinstance(act, Answer) else None
        reason = self.judge.reason(answer)
        said_so = isinstance(act, FINAL_ACTIONS)
        gave_up = isinstance(act, Impossible)
        success = reason is None and not gave_up and (said_so or self._stop_on_success)
        terminated = said_so or success
        truncated = not terminated and self._steps >= task.step_limit
        info = {"task": task, "success": success, "reason": reason or ""}
        if isinstance(act, AskUser):
            info["reply"] = self.judge.reply(act.question)
        if terminated or truncated or self._progress_reward:
            info |= self._how_far(answer)
        reward = self._earned(info) if self._progress_reward else float(success)
        return self._observed(pixels), reward, terminated, truncated, info

    def _how_far(self, answer: str | None) -> dict[str, Any]:
        verdict = self.judge.verdict(answer)
        names = ("progress", "missing", "collateral")
        return {name: getattr(verdict, name) for name in names}

    def _earned(self, info: dict[str, Any]) -> float:
        """Return what this step adds to the progress; the steps of a task sum to 1 at most."""
        reached = 0.0 if info["collateral"] else info["progress"] or 0.0
        earned, self._progress = reached - self._progress, reached
        return float(earned)

    def _current_task(self) -> Task:
        if self.task is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        return self.task

    def _observed(self, pixels: Pixels) -> Observed:
        return {"screen": pixels.copy(), "instruction": self._current_task().instruction}

    def render(self) -> Pixels | None:
        return self.device.phone.frame().copy() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self.device.close()


def phone_action_space() -> spaces.Dict:
    """Return the action space whose samples `read_action` converts."""
    text = spaces.Text(max_length=MAX_TEXT, min_length=0, charset=CHARACTERS)
    point = spaces.Box(0.0, 1.0, (2,), dtype=np.float32)
    kind = spaces.Discrete(len(KINDS))
    return spaces.Dict({"kind": kind, "point": point, "to": point, "text": text})


def read_action(action: dict[str, Any]) -> Action:
    """Convert a sample of the action space to an `Action`."""
    kind = int(action["kind"])
    if not 0 <= kind < len(KINDS):
        raise InvalidAction(f"action kind {kind}; there are {len(KINDS)}: {', '.join(KINDS)}")
    x, y = (float(value) for value in action["point"])
    to_x, to_y = (float(value) for value in action["to"])
    name, text = KINDS[kind], str(action["text"])
    match name:
        case "tap" | "long_press" | "double_tap":
            return AT_A_POINT[name](x, y)
        case "swipe":
            return Swipe(x, y, to_x, to_y)
        case "drag_and_drop":
            return DragAndDrop(x, y, to_x, to_y)
        case "pinch":
            return Pinch(x, y, 10.0 ** (2.0 * to_x - 1.0))
        case "type" | "open_app" | "answer" | "ask_user":
            return WITH_TEXT[name](text)
        case _:
            return PLAIN[name]


register_environments()
