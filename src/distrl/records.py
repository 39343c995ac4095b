"""What travels from the phone to the gradient: small frozen records, and nothing else.

A trajectory of T steps owns T + 1 screens; the next screen is a view, never a copy. Coordinates
of actions are shares of the screen in [0, 1], x to the right and y down, so that one action means
the same on every device. Every module may import this one; it imports none of them.
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
    """A touch that stays until something opens: a menu, a selection."""

    x: float
    y: float

    def __post_init__(self) -> None:
        _check_share("LongPress", "x", self.x)
        _check_share("LongPress", "y", self.y)


@dataclass(frozen=True, slots=True)
class Swipe:
    """A finger that moves from one point to another; fast ones (short `seconds`) fling."""

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
    """Two short touches of one place, too quick for anything to come between them."""

    x: float
    y: float

    def __post_init__(self) -> None:
        _check_share("DoubleTap", "x", self.x)
        _check_share("DoubleTap", "y", self.y)


@dataclass(frozen=True, slots=True)
class DragAndDrop:
    """A finger that takes hold of something, carries it to another point and lets go of it."""

    x: float
    y: float
    to_x: float
    to_y: float

    def __post_init__(self) -> None:
        for name in ("x", "y", "to_x", "to_y"):
            _check_share("DragAndDrop", name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class Pinch:
    """Two fingers around a point, after which they are `scale` times as far apart: above 1 zooms
    in, below 1 zooms out.
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
    """Text into the focused field, after what stands there already."""

    text: str


@dataclass(frozen=True, slots=True)
class Back:
    """The system's Back: close what is in front, one layer at a time."""


@dataclass(frozen=True, slots=True)
class Home:
    """The system's Home: to the first screen; what is open stays open behind it."""


@dataclass(frozen=True, slots=True)
class Enter:
    """The keyboard's Enter: send, search, or a new line, as the focused field has it."""


@dataclass(frozen=True, slots=True)
class Recents:
    """The system's overview of recent apps."""


@dataclass(frozen=True, slots=True)
class OpenShade:
    """Pull down the shade with quick settings and notifications."""


@dataclass(frozen=True, slots=True)
class VolumeUp:
    """The volume key, upper half."""


@dataclass(frozen=True, slots=True)
class VolumeDown:
    """The volume key, lower half."""


@dataclass(frozen=True, slots=True)
class Power:
    """The power key: the screen goes off, or on again."""


@dataclass(frozen=True, slots=True)
class OpenApp:
    """Bring an app to the front by its name, as if found in the launcher."""

    name: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for a while, for a page that is still loading."""

    seconds: float = 2.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.seconds <= 600.0:
            raise InvalidAction(f"Wait: seconds={self.seconds!r}; wait for 0 to 600 seconds")


@dataclass(frozen=True, slots=True)
class AskUser:
    """A question to the user, who may reply; the phone is left untouched, the episode goes on.

    The policy leaves `reply` empty. The episode fills it in before it records the action, so that
    the reply is among the past actions of every later observation, also when it is trained on.
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
    """An answer of the policy that no dialect could read. It leaves the phone untouched."""

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
    """One picture of the phone. Its pixels are read-only; equal pixels have equal digests."""

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
        """Names the content: screens with equal addresses have equal pixels, in equal rows."""
        return f"{self.digest}-{self.width}x{self.height}"


Split = Literal[
    "train", "test", "held_out_templates", "held_out_apps", "undemonstrated", "undemonstrated_test",
    "high_stakes", "long", "paraphrased", "other_words",
]  # fmt: skip
SPLITS: tuple[Split, ...] = get_args(Split)  # in this order: a phone's seed depends on it
TEST_OF: dict[Split, Split] = {"train": "test", "undemonstrated": "undemonstrated_test"}
SAME_TASKS: dict[Split, Split] = {"paraphrased": "test", "other_words": "test"}  # other sentences
Family = Literal["general", "shopping", "everyday"]
FAMILIES: tuple[Family, ...] = get_args(Family)
CORE_FAMILIES: tuple[Family, ...] = ("general", "shopping")  # meant where no family is named
FamilyChoice = Literal[Family, "both"]  # both: the core families
FAMILY_CHOICES: tuple[FamilyChoice, ...] = get_args(FamilyChoice)
Difficulty = Literal["easy", "medium", "hard", "long"]


def tasks_split(split: Split) -> Split:
    """The split whose tasks these are: another one's, said in other sentences, or its own."""
    return SAME_TASKS.get(split, split)


def chosen_families(choices: Iterable[FamilyChoice]) -> tuple[Family, ...]:
    """Those that are named, each once; they are played in turns, in this order."""
    found: list[Family] = []
    for each in choices:
        found += CORE_FAMILIES if each == "both" else (each,)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do on a phone. `id` alone rebuilds it: template/split/number."""

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
    """What a policy sees before it decides. The past is all of this episode's, oldest first.

    Elements are there where the policy reads them (`agent.sees`), as `hierarchy.readable` has them.
    """

    instruction: str
    screen: Screen
    past_actions: tuple[Action, ...]
    past_screens: tuple[Screen, ...] = ()  # those before `screen`: references, no copies
    elements: Elements = ()  # on `screen`
    touched: tuple[Element | None, ...] = ()  # by each past action


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy decided, with what the learner needs to correct for it later.

    `log_probs` are those of `token_ids` as sampled, temperature applied; never recomputed.
    Scripted agents have no tokens.
    """

    action: Action
    text: str = ""
    token_ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    weight_version: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Was the task done? `judge` says who decided; `reason` says why not.

    A judge that sees facts also says how far the agent came: `progress` is the share of the wanted
    facts that were reached (1 with `success` false: all of them, with damage beside it; None: not
    known), `missing` has those that were not, `collateral` each record that was wrongly touched.
    None of it is part of any reward, unless a reward that somebody registers reads it.
    """

    success: bool
    reason: str
    judge: str
    progress: float | None = None
    missing: tuple[str, ...] = ()
    collateral: tuple[str, ...] = ()


class Ending(enum.Enum):
    """How an episode ended. Each has its own rule for the learner; a fault is never reward 0."""

    SUCCESS = "success"
    FAILURE = "failure"  # the agent said it was done, and it was not
    GAVE_UP = "gave_up"  # the agent called the task impossible
    STEP_LIMIT = "step_limit"
    APP_CRASH = "app_crash"
    DEVICE_LOST = "device_lost"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    AWAITING_VERDICT = "awaiting_verdict"  # played to its end; a judge looks at it later
    DRY_RUN = "dry_run"  # decided only, nothing was carried out: never judged, never trained on

    @property
    def terminated(self) -> bool:
        """The task itself ended: nothing to bootstrap from."""
        return self in (Ending.SUCCESS, Ending.FAILURE, Ending.GAVE_UP)

    @property
    def truncated(self) -> bool:
        """Cut off by the world: the value of the last screen stands for what would have come."""
        return not self.terminated

    @property
    def judged(self) -> bool:
        """A verdict stands behind it, so that it may be trained on."""
        return self.terminated or self is Ending.STEP_LIMIT

    @property
    def broken(self) -> bool:
        """The world broke it: no verdict stands behind it, and none is on its way."""
        return not self.judged and self not in (Ending.AWAITING_VERDICT, Ending.DRY_RUN)


DRY_RUN_MARK = "DRY RUN"  # before every line and heading about episodes that ended so


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a trajectory left another one: all before `step` is that one's, and not its own."""

    parent: str  # id of the trajectory
    step: int


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A finished episode: T decisions between T + 1 screens, how it ended and what was judged.

    One that was played from the middle of another (`branch`) has all decisions and screens, so that
    it can be looked at by itself; those before `first_step` are its parent's, and are trained on
    there. Its device seconds are those since. `elements` are those of each screen, as the policy
    read them; there are none where it did not.
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
    environment: str = ""  # in which it was played, where a run has several

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
        """The first that is its own."""
        return 0 if self.branch is None else self.branch.step

    @property
    def attempt_id(self) -> str:
        """Of the attempt that it belongs to: its own id, or its parent's."""
        return self.id if self.branch is None else self.branch.parent

    @property
    def weight_version(self) -> int:
        """Of the weights that began it, the oldest in it; each decision carries its own."""
        own = self.decisions[self.first_step :]
        return own[0].weight_version if own else 0


def observation_after(
    instruction: str,
    actions: Sequence[Action],
    screens: Sequence[Screen],
    elements: Sequence[Elements] = (),
) -> Observation:
    """What a policy sees on the last of these screens, after these actions on those before it."""
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
    """What an action on a screen with these elements is done to."""
    match action:
        case Tap(x, y) | LongPress(x, y):
            return touched_at(elements, x * screen.width, y * screen.height)
        case Swipe(x, y):
            return scrolled_at(elements, x * screen.width, y * screen.height)
        case TypeText():
            return next((each for each in elements if each.focused), None)
        case _:
            return None
