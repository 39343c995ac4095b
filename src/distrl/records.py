"""The data types of rollouts, from the phone to the gradient: actions, screens, trajectories.

All are small frozen dataclasses. A trajectory of T steps owns T + 1 screens, so that the next
screen of a step is a reference, never a copy. Coordinates of actions are shares of the screen in
[0, 1], x to the right and y down, so that an action means the same on every device. Every module
may import this one; of DistRL it imports only `errors` and `hierarchy`.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from distrl.errors import InvalidAction
from distrl.hierarchy import Element, Elements, scrolled_at, touched_at

Pixels = NDArray[np.uint8]  # [height, width, 3]


def _check_share(action: str, name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:  # also refuses NaN
        raise InvalidAction(
            f"{action}: {name}={value!r} lies outside the screen; coordinates are shares of the "
            "screen in [0, 1], so divide pixels by the screen's width or height"
        )


@dataclass(frozen=True, slots=True)
class Tap:
    """A short touch; x and y are shares of the screen, from its top left corner."""

    x: float
    y: float

    def __post_init__(self) -> None:
        _check_share("Tap", "x", self.x)
        _check_share("Tap", "y", self.y)


@dataclass(frozen=True, slots=True)
class LongPress:
    """A touch that is held until something opens, such as a menu or a selection."""

    x: float
    y: float

    def __post_init__(self) -> None:
        _check_share("LongPress", "x", self.x)
        _check_share("LongPress", "y", self.y)


@dataclass(frozen=True, slots=True)
class Swipe:
    """A finger that moves from one point to another; a fast swipe (short `seconds`) flings."""

    x: float
    y: float
    to_x: float
    to_y: float
    seconds: float = 0.3

    def __post_init__(self) -> None:
        for name in ("x", "y", "to_x", "to_y"):
            _check_share("Swipe", name, getattr(self, name))
        if not 0.01 <= self.seconds <= 10.0:
            raise InvalidAction(
                f"Swipe: seconds={self.seconds!r}; a finger moves for 0.01 to 10 seconds"
            )


@dataclass(frozen=True, slots=True)
class DoubleTap:
    """Two short touches of one place, with nothing in between."""

    x: float
    y: float

    def __post_init__(self) -> None:
        _check_share("DoubleTap", "x", self.x)
        _check_share("DoubleTap", "y", self.y)


@dataclass(frozen=True, slots=True)
class DragAndDrop:
    """A finger that picks something up, drags it to another point and drops it."""

    x: float
    y: float
    to_x: float
    to_y: float

    def __post_init__(self) -> None:
        for name in ("x", "y", "to_x", "to_y"):
            _check_share("DragAndDrop", name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class Pinch:
    """Two fingers around a point that move until they are `scale` times as far apart: a scale above
    1 zooms in, below 1 zooms out.
    """

    x: float
    y: float
    scale: float

    def __post_init__(self) -> None:
        _check_share("Pinch", "x", self.x)
        _check_share("Pinch", "y", self.y)
        if not 0.1 <= self.scale <= 10.0:
            raise InvalidAction(f"Pinch: scale={self.scale!r}; fingers spread 0.1 to 10 times")


@dataclass(frozen=True, slots=True)
class TypeText:
    """Type text into the focused field, after the text that is already there."""

    text: str


@dataclass(frozen=True, slots=True)
class Back:
    """The system's Back: close the topmost layer (dialog, page or app)."""


@dataclass(frozen=True, slots=True)
class Home:
    """The system's Home: show the home screen; apps stay open in the background."""


@dataclass(frozen=True, slots=True)
class Enter:
    """The keyboard's Enter: send, search, or a new line, depending on the focused field."""


@dataclass(frozen=True, slots=True)
class Recents:
    """The system's overview of recent apps."""


@dataclass(frozen=True, slots=True)
class OpenShade:
    """Pull down the notification shade, which also has the quick settings."""


@dataclass(frozen=True, slots=True)
class VolumeUp:
    """The volume-up key."""


@dataclass(frozen=True, slots=True)
class VolumeDown:
    """The volume-down key."""


@dataclass(frozen=True, slots=True)
class Power:
    """The power key: turns the screen off or on."""


@dataclass(frozen=True, slots=True)
class OpenApp:
    """Bring an app to the front by its name, as if started from the launcher."""

    name: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for `seconds`, for example while a page is loading."""

    seconds: float = 2.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.seconds <= 600.0:
            raise InvalidAction(f"Wait: seconds={self.seconds!r}; wait for 0 to 600 seconds")


@dataclass(frozen=True, slots=True)
class AskUser:
    """A question to the user, who may reply; the phone is left untouched, the episode goes on.

    The policy leaves `reply` empty. The episode fills it in before it records the action, so that
    the past actions of every later observation contain the reply, in training as well.
    """

    question: str
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The agent's answer to a question; ends the episode."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The agent says that the task is done; ends the episode."""


@dataclass(frozen=True, slots=True)
class Impossible:
    """The agent says that the task cannot be done; ends the episode."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Model output that could not be parsed as an action. It leaves the phone untouched."""

    text: str
    reason: str


Action = (
    Tap
    | LongPress
    | Swipe
    | DoubleTap
    | DragAndDrop
    | Pinch
    | TypeText
    | Back
    | Home
    | Enter
    | Recents
    | OpenShade
    | VolumeUp
    | VolumeDown
    | Power
    | OpenApp
    | Wait
    | AskUser
    | Answer
    | Done
    | Impossible
    | Unreadable
)
FINAL_ACTIONS = (Answer, Done, Impossible)
ONLY_SAID = (*FINAL_ACTIONS, AskUser, Unreadable)  # these leave the phone untouched


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """A screenshot. Its pixels are read-only; equal pixels have equal digests."""

    pixels: Pixels

    def __post_init__(self) -> None:
        self.pixels.flags.writeable = False

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def digest(self) -> str:
        return hashlib.blake2b(self.pixels.tobytes(), digest_size=16).hexdigest()

    @property
    def address(self) -> str:
        """A content address: screens with equal addresses have equal pixels and equal sizes."""
        return f"{self.digest}-{self.width}x{self.height}"


Split = Literal[
    "train", "test", "held_out_templates", "held_out_apps", "undemonstrated", "undemonstrated_test",
    "high_stakes", "long", "paraphrased", "other_words",
]  # fmt: skip
SPLITS: tuple[Split, ...] = get_args(Split)  # do not reorder: phone seeds depend on the order
TEST_OF: dict[Split, Split] = {"train": "test", "undemonstrated": "undemonstrated_test"}
SAME_TASKS: dict[Split, Split] = {"paraphrased": "test", "other_words": "test"}  # only reworded
Family = Literal["general", "shopping", "everyday"]
FAMILIES: tuple[Family, ...] = get_args(Family)
CORE_FAMILIES: tuple[Family, ...] = ("general", "shopping")  # the default
FamilyChoice = Literal[Family, "both"]  # both: the core families
FAMILY_CHOICES: tuple[FamilyChoice, ...] = get_args(FamilyChoice)
Difficulty = Literal["easy", "medium", "hard", "long"]


def tasks_split(split: Split) -> Split:
    """Return the split whose tasks these are: the original of a reworded split, else itself."""
    return SAME_TASKS.get(split, split)


def chosen_families(choices: Iterable[FamilyChoice]) -> tuple[Family, ...]:
    """Return the named families, each once; they are played in turns, in this order."""
    found: list[Family] = []
    for each in choices:
        found += CORE_FAMILIES if each == "both" else (each,)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Task:
    """One task on a phone. `id` (template/split/number) is enough to rebuild it."""

    id: str
    instruction: str
    family: Family
    template: str
    split: Split
    seed: int
    apps: tuple[str, ...]
    difficulty: Difficulty
    step_limit: int


@dataclass(frozen=True, slots=True)
class Observation:
    """The input of a policy for one decision. The past covers the whole episode, oldest first.

    Elements are only present if the policy reads them (`agent.sees`); they are the result of
    `hierarchy.readable`.
    """

    instruction: str
    screen: Screen
    past_actions: tuple[Action, ...]
    past_screens: tuple[Screen, ...] = ()  # the screens before `screen`: references, no copies
    elements: Elements = ()  # elements of `screen`
    touched: tuple[Element | None, ...] = ()  # the element that each past action touched


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of a policy, with what the learner needs for off-policy correction.

    `log_probs` are those of `token_ids` when they were sampled, with temperature applied; they are
    never recomputed. Scripted agents have no tokens.
    """

    action: Action
    text: str = ""
    token_ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    weight_version: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the task was done. `judge` names who decided; `reason` says why not.

    A judge that reads device facts also reports partial progress. `progress` is the share of the
    wanted facts that were reached (None: unknown; 1 with `success` false: all were reached, but
    other data was damaged). `missing` lists the facts that were not reached, `collateral` each
    record that was wrongly changed. None of these affects the reward, unless a registered reward
    reads them.
    """

    success: bool
    reason: str
    judge: str
    progress: float | None = None
    missing: tuple[str, ...] = ()
    collateral: tuple[str, ...] = ()


class Ending(enum.Enum):
    """How an episode ended. The learner has a rule for each ending; a fault is never reward 0."""

    SUCCESS = "success"
    FAILURE = "failure"  # the agent said it was done, and it was not
    GAVE_UP = "gave_up"  # the agent called the task impossible
    STEP_LIMIT = "step_limit"
    APP_CRASH = "app_crash"
    DEVICE_LOST = "device_lost"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    AWAITING_VERDICT = "awaiting_verdict"  # played to its end; a judge gives a verdict later
    DRY_RUN = "dry_run"  # decided only, no action was carried out: never judged, never trained on

    @property
    def terminated(self) -> bool:
        """Whether the task itself ended, so that the return needs no bootstrap value."""
        return self in (Ending.SUCCESS, Ending.FAILURE, Ending.GAVE_UP)

    @property
    def truncated(self) -> bool:
        """Whether the episode was cut off: the last screen's value bootstraps the return."""
        return not self.terminated

    @property
    def judged(self) -> bool:
        """Whether the ending is based on a verdict, so that the episode may be trained on."""
        return self.terminated or self is Ending.STEP_LIMIT

    @property
    def broken(self) -> bool:
        """Whether a fault ended the episode: it has no verdict, and none is pending."""
        return not self.judged and self not in (Ending.AWAITING_VERDICT, Ending.DRY_RUN)


DRY_RUN_MARK = "DRY RUN"  # prefix of every line and heading about dry-run episodes


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a trajectory forked from another one; the steps before `step` belong to the parent."""

    parent: str  # id of the trajectory
    step: int


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A finished episode: T decisions between T + 1 screens, with its ending and its verdict.

    A trajectory that was forked from another one (`branch`) has all decisions and screens, so that
    it is complete by itself; those before `first_step` are its parent's and are trained on there.
    Its device seconds count from the fork. `elements` has those of each screen as the policy read
    them; it is empty if the policy reads no elements.
    """

    id: str
    task: Task
    decisions: tuple[Decision, ...]
    screens: tuple[Screen, ...]
    ending: Ending
    verdict: Verdict | None
    device_seconds: float
    notes: tuple[str, ...] = field(default=())
    branch: Branch | None = None
    elements: tuple[Elements, ...] = ()
    environment: str = ""  # name of its environment, if the run has several

    def __post_init__(self) -> None:
        if self.elements and len(self.elements) != len(self.screens):
            raise ValueError(
                f"trajectory {self.id}: {len(self.screens)} screens have {len(self.elements)} "
                "lists of elements; give one for each, or none"
            )
        if len(self.screens) != len(self.decisions) + 1:
            raise ValueError(
                f"trajectory {self.id}: {len(self.decisions)} decisions need "
                f"{len(self.decisions) + 1} screens, got {len(self.screens)}"
            )
        if not 0 <= self.first_step <= len(self.decisions):
            raise ValueError(
                f"trajectory {self.id} of {len(self.decisions)} decisions branched off at step "
                f"{self.first_step}, where it has none"
            )

    @property
    def success(self) -> bool:
        return self.ending is Ending.SUCCESS

    @property
    def first_step(self) -> int:
        """The first step of its own; earlier ones are its parent's."""
        return 0 if self.branch is None else self.branch.step

    @property
    def attempt_id(self) -> str:
        """The id of the attempt that it belongs to: its own, or its parent's."""
        return self.id if self.branch is None else self.branch.parent

    @property
    def weight_version(self) -> int:
        """The weight version of its first own decision, the oldest; each decision has its own."""
        own = self.decisions[self.first_step :]
        return own[0].weight_version if own else 0


def observation_after(
    instruction: str,
    actions: Sequence[Action],
    screens: Sequence[Screen],
    elements: Sequence[Elements] = (),
) -> Observation:
    """Return the observation on the last of these screens, after the actions on those before it."""
    *past_screens, screen = screens
    touched = (touched_by(*each) for each in zip(actions, elements, screens, strict=False))
    return Observation(
        instruction,
        screen,
        tuple(actions),
        tuple(past_screens),
        elements[-1] if elements else (),
        tuple(touched),
    )


def touched_by(action: Action, elements: Elements, screen: Screen) -> Element | None:
    """Return the element that an action touches, scrolls or types into; None if there is none."""
    match action:
        case Tap(x, y) | LongPress(x, y):
            return touched_at(elements, x * screen.width, y * screen.height)
        case Swipe(x, y):
            return scrolled_at(elements, x * screen.width, y * screen.height)
        case TypeText():
            return next((each for each in elements if each.focused), None)
        case _:
            return None
