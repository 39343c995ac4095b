"""A device as an environment with tool calls, for trainers such as TRL.

    GRPOTrainer(…, environment_factory=ToolEnvironment)

It implements the contract of TRL's `environment_factory` (1.16) without importing TRL: the class is
created without arguments, `reset` gets the columns of a row (`task`: an id such as
notes.create/train/3), `get_reward` is called at the end, and every other public method is a tool
whose docstring describes it to the model. A tool returns the screen as text with numbered elements;
with `pictures` it returns content blocks with a picture as well. An invalid call raises
`ValueError`, which trainers show to the model.

The default is a simulated phone with tasks and exact judges. For any other device use
`partial(ToolEnvironment, device, judge)`, and `instruction` in place of `task` in the dataset, or
pass your own `tasks=[...]`, which the column `task` then refers to by id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PIL import Image

from distrl.devices.device import Device
from distrl.errors import DistrlError, InvalidAction
from distrl.hierarchy import Element
from distrl.judging.judge import NOBODY, Judge, KnowsUser
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
    Home,
    LongPress,
    OpenApp,
    OpenShade,
    Pinch,
    Power,
    Recents,
    Screen,
    Swipe,
    Tap,
    Task,
    TypeText,
    VolumeDown,
    VolumeUp,
)
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

Observed = str | list[dict[str, Any]]
STEP_LIMIT = 15  # for instructions from the dataset
SWIPES = {"up": (0.5, 0.7, 0.5, 0.3), "down": (0.5, 0.3, 0.5, 0.7),
          "left": (0.8, 0.5, 0.2, 0.5), "right": (0.2, 0.5, 0.8, 0.5)}  # fmt: skip
OVER = "the episode is over: call no more tools"
TOOLS = (
    "tap", "long_press", "swipe", "type_text", "press", "open_app", "finish", "double_tap", "drag",
    "pinch", "ask_user",
)  # fmt: skip
KEYS: dict[str, Action] = {
    "back": Back(), "home": Home(), "enter": Enter(), "recents": Recents(), "shade": OpenShade(),
    "volume_up": VolumeUp(), "volume_down": VolumeDown(), "power": Power(),
}  # fmt: skip


class ToolEnvironment:
    """One device and one task at a time. `reward` is 1.0 if it is done and the agent says so."""

    def __init__(
        self,
        device: Device | None = None,
        judge: Judge | None = None,
        *,
        pictures: bool = False,
        tasks: Iterable[Task] = (),
    ) -> None:
        if device is not None and judge is None:
            raise ValueError(
                f"the device {device.name!r} needs a judge: ToolEnvironment(device, judge)"
            )
        simulated = SimulatedDevice("tools") if device is None else None
        self._device: Device = simulated or device  # type: ignore[assignment]
        self._judge: Judge = judge or FactJudge(simulated)  # type: ignore[arg-type]
        self.pictures = pictures
        self._tasks = {task.id: task for task in tasks}
        self._task: Task | None = None
        self._elements: tuple[Element, ...] = ()
        self.steps = 0
        self.done = False
        self.reward = 0.0
        self.reason = ""

    def reset(self, **columns: Any) -> str:
        """Begin the task of a row, and return its first screen as text, which trainers expect."""
        task = self._tasks.get(str(columns.get("task"))) or _task(columns)
        self._device.reset(task.seed)
        self._task = self._judge.begin(task) or task
        self.steps, self.done, self.reward, self.reason = 0, False, 0.0, ""
        return self._described()

    def __str__(self) -> str:
        """Describe the task and the current screen, for an agent that starts after the reset."""
        if self._task is None:
            return "no task yet: call reset first"
        return "\n".join([f"Task: {self._task.instruction}", *self._listed()])

    def get_reward(self) -> float:
        """Return 1.0 if the task was done and the agent said so, else 0.0."""
        return self.reward

    # Tools ---------------------------------------------------------------------------------------

    def tap(self, element: int) -> Observed:
        """
        Tap an element of the screen.

        Args:
            element: The number of the element, as the screen lists it.

        Returns:
            The next screen.
        """
        return self._act(Tap(*self._place(element)))

    def long_press(self, element: int) -> Observed:
        """
        Press an element until something opens.

        Args:
            element: The number of the element, as the screen lists it.

        Returns:
            The next screen.
        """
        return self._act(LongPress(*self._place(element)))

    def swipe(self, direction: str) -> Observed:
        """
        Move a finger over the screen.

        Args:
            direction: Where the finger moves: up, down, left or right. Up shows what is below.

        Returns:
            The next screen.
        """
        if direction not in SWIPES:
            raise ValueError(f"direction={direction!r}; give {', '.join(SWIPES)}")
        return self._act(Swipe(*SWIPES[direction]))

    def type_text(self, text: str) -> Observed:
        """
        Type into the focused field.

        Args:
            text: What to type.

        Returns:
            The next screen.
        """
        return self._act(TypeText(text))

    def press(self, key: str) -> Observed:
        """
        Press a key of the phone.

        Args:
            key: One of back, home, enter, recents (the apps that were open), shade (quick
                settings and notifications), volume_up, volume_down, power.

        Returns:
            The next screen.
        """
        if key not in KEYS:
            raise ValueError(f"key={key!r}; give {', '.join(KEYS)}")
        return self._act(KEYS[key])

    def open_app(self, app: str) -> Observed:
        """
        Open an app.

        Args:
            app: The name of the app.

        Returns:
            The next screen.
        """
        return self._act(OpenApp(app))

    def double_tap(self, element: int) -> Observed:
        """
        Tap an element twice, quickly.

        Args:
            element: The number of the element, as the screen lists it.

        Returns:
            The next screen.
        """
        return self._act(DoubleTap(*self._place(element)))

    def drag(self, element: int, to: int) -> Observed:
        """
        Take hold of an element, carry it to where another one is, and let go of it.

        Args:
            element: The number of the element to carry, as the screen lists it.
            to: The number of the element to carry it to.

        Returns:
            The next screen.
        """
        return self._act(DragAndDrop(*self._place(element), *self._place(to)))

    def pinch(self, element: int, scale: float) -> Observed:
        """
        Move two fingers apart, or together, on an element.

        Args:
            element: The number of the element, as the screen lists it.
            scale: How many times as far apart the fingers end: above 1 zooms in, below 1 out.

        Returns:
            The next screen.
        """
        try:
            return self._act(Pinch(*self._place(element), float(scale)))
        except InvalidAction as error:
            raise ValueError(str(error)) from error

    def ask_user(self, question: str) -> Observed:
        """
        Ask the user for something that the task does not say. The phone is left as it is.

        Args:
            question: What to ask.

        Returns:
            The reply, and the screen.
        """
        judge = self._judge
        reply = judge.reply(question) if isinstance(judge, KnowsUser) else NOBODY
        seen, said = self._act(AskUser(question, reply)), f"The user says: {reply}"
        return (
            f"{said}\n{seen}" if isinstance(seen, str) else [{"type": "text", "text": said}, *seen]
        )

    def finish(self, answer: str = "") -> str:
        """
        Say that the task is done. Nothing can be done after that.

        Args:
            answer: The answer, if the task was a question; else empty.

        Returns:
            Whether the task was done.
        """
        self._act(Answer(answer) if answer else Done())
        return f"{'done' if self.reward else 'not done'}: {self.reason}".rstrip(": ")

    # ---------------------------------------------------------------------------------------------

    def _act(self, action: Action) -> Observed:
        if self._task is None or self.done:
            raise ValueError(OVER if self.done else "call reset first")
        self.steps += 1
        try:
            screen = self._device.perform(action)
        except DistrlError as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        finished = isinstance(action, FINAL_ACTIONS)
        self.done = finished or self.steps >= self._task.step_limit
        if self.done:
            verdict = self._judge.verdict(action.text if isinstance(action, Answer) else None)
            self.reward = float(finished and verdict is not None and verdict.success)
            self.reason = verdict.reason if verdict is not None else "not judged yet"
        return self._observed(screen)

    def _place(self, number: int) -> tuple[float, float]:
        if not isinstance(number, int) or not 0 <= number < len(self._elements):
            raise ValueError(f"element={number!r}; the screen has 0 to {len(self._elements) - 1}")
        screen = self._device.screen()
        x, y = self._elements[number].centre
        return min(1.0, max(0.0, x / screen.width)), min(1.0, max(0.0, y / screen.height))

    def _observed(self, screen: Screen) -> Observed:
        text = self._described()
        if not self.pictures:
            return text
        picture = {"type": "image", "image": Image.fromarray(screen.pixels)}
        return [picture, {"type": "text", "text": text}]

    def _described(self) -> str:
        """List the numbered elements of the screen; on the first screen with the task above."""
        return "\n".join(self._listed()) if self.steps else str(self)

    def _listed(self) -> list[str]:
        shown = [each for each in self._device.elements() if each.text or each.clickable]
        self._elements = tuple(shown)
        return [f"[{at}] {_words(each)}" for at, each in enumerate(shown)]


def _task(columns: dict[str, Any]) -> Task:
    if task := columns.get("task"):
        return load_task(str(task))[0]
    if instruction := columns.get("instruction"):
        seed = int(columns.get("seed") or 0)
        return Task("given", str(instruction), "general", "given", "train", seed, (), "medium",
                    STEP_LIMIT)  # fmt: skip
    raise ValueError(
        "the dataset needs a column `task` (notes.create/train/3), or `instruction` for a device "
        f"of your own; it has {', '.join(columns) or 'none'}"
    )


def _words(element: Element) -> str:
    parts = [element.role, repr(element.text)]
    parts += [each for each in (element.detail, element.value) if each]
    if element.checked is not None:
        parts.append("on" if element.checked else "off")
    return " ".join(parts)
