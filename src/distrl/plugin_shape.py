"""The interface that registered parts (plug-ins) of each kind need, and the built-in parts' names.

`SHAPES` declares, for each kind, the attributes of a part and the arguments with which the part and
its methods are called; `plugins` refuses a part that does not match. Attributes that a class sets
on its instances are only checked when an instance is made (`plugins.make`).
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from distrl.errors import InvalidPlugin

PartKind = Literal[
    "task", "judge", "device", "model_family", "algorithm", "dialect", "reward", "step_view", "app"
]
KINDS: tuple[PartKind, ...] = get_args(PartKind)
BUILT_IN: dict[PartKind, tuple[str, ...]] = {  # names of DistRL's own parts, as settings use them
    "judge": ("facts", "vlm", "android_world", "page"),
    "device": ("simulated", "adb", "emulator", "android_world", "browser"),
    "algorithm": ("a_ride", "digirl", "filtered_bc", "vtrace", "ppo", "grpo"),
    "dialect": (
        "compact", "aitw", "android_world", "autoglm", "elements", "qwen2_5_vl", "qwen3_vl",
        "ui_tars", "ui_tars_1_5",
    ),
    "reward": ("terms",),
    "app": (
        "Browser", "Notes", "Settings", "Clock", "Calculator", "Contacts", "Phone", "Messages",
        "Mail", "To-do", "Gallery", "Files", "Calendar", "Music", "Weather", "Maps", "Store",
        "Recorder", "Translator", "Compass", "Fitness", "Yoga", "Sleep", "Recipes", "Baking",
        "Brew", "News", "Podcasts", "Radio", "Chess", "Sudoku", "Solitaire", "Bank", "Budget",
        "Markets", "Chat", "Wallet", "Travel", "Feed", "Food",
    ),
}  # fmt: skip
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}(/\w+/\w+)?")  # tasks: and /split/number
NAMES = "names begin with a letter and have letters, digits, dots, hyphens and underscores"
MAX_LABEL = 30
LABELS = (  # the name of an app is the label of its icon
    f"names of apps are 1 to {MAX_LABEL} printable characters without a slash, and begin and "
    "end with no space"
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The interface of a part: its attributes, and the number of arguments of each call.

    The call "" is that of the part itself; the others are methods. `keywords` are further arguments
    of a call, passed by name.
    """

    words: str
    calls: Mapping[str, int]
    attributes: Mapping[str, type] = field(default_factory=dict)
    keywords: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: bool = False  # whether the call "" gets further keyword arguments from settings


DEVICE_CALLS = {
    "reset": 1, "screen": 0, "perform": 1, "elements": 0, "close": 0, "__enter__": 0, "__exit__": 3,
}  # fmt: skip
TEMPLATE = Shape(
    "a frozen dataclass that inherits phonesim.tasks.template.Template, with name, apps, "
    "difficulty, phrasings, missing(start, end) and solve(start)",
    {"missing": 2, "solve": 1, "draw": 2, "prepare": 2},
    {"name": str, "apps": tuple, "difficulty": str, "phrasings": tuple},
)
LISTED_TASK = Shape(
    "a distrl.records.Task", {}, {"id": str, "instruction": str, "split": str, "step_limit": int}
)
JUDGE_CLASS = Shape(
    "a class made with the device, Judge(device), with begin(task) and verdict(answer) -> Verdict",
    {"": 1, "begin": 1, "verdict": 1},
)
JUDGE_FUNCTION = Shape("a function judge(trajectory) -> Verdict", {"": 1})
DEVICE_CLASS = Shape(
    "a class Device(name, **options) with name, seconds, blocking, reset(seed), screen(), "
    "perform(action), elements(), close(), __enter__ and __exit__: see distrl.devices.device",
    {"": 1, **DEVICE_CALLS},
    options=True,
)
DEVICE_FUNCTION = Shape("a function make(name, **options) -> Device", {"": 1}, options=True)
FAMILY = Shape(
    "a distrl.agent.families.model_family.ModelFamily",
    {"input_builder": 1},
    {"name": str, "model_types": tuple, "dialect": str, "adapter_targets": str},
)
ALGORITHM_CLASS = Shape(
    "a class Algorithm(step, **options) with draws, discount and "
    "update(batch, policy_moves=True): see docs/add-an-algorithm.md",
    {"": 1, "update": 1},
    keywords={"update": ("policy_moves",)},
    options=True,
)
ALGORITHM_FUNCTION = Shape(
    "a function make(step, **options) -> Algorithm: see docs/add-an-algorithm.md",
    {"": 1},
    options=True,
)
DIALECT = Shape(
    "a distrl.agent.dialects.dialect.Dialect with writer(action, scale) and reader(text, scale)",
    {"writer": 2, "reader": 2, "write": 2, "read": 2},
    {"name": str, "instructions": str},
)
REWARD = Shape("a function reward(trajectory) -> one number for each decision", {"": 1})
STEP_VIEW = Shape("a function show(trajectory, step) -> texts by their titles", {"": 2})
APP = Shape(
    "a class that inherits phonesim.app.App, with name, icon, color, kinds (frozen dataclasses "
    "whose first field is id) and home(ui)",
    {"": 0, "home": 1, "furnish": 3},
    {"name": str, "icon": str, "color": tuple, "kinds": tuple},
)
SHAPES: dict[PartKind, tuple[Shape, Shape]] = {  # kind -> (shape of a class, of any other object)
    "task": (TEMPLATE, LISTED_TASK),
    "judge": (JUDGE_CLASS, JUDGE_FUNCTION),
    "device": (DEVICE_CLASS, DEVICE_FUNCTION),
    "model_family": (FAMILY, FAMILY),
    "algorithm": (ALGORITHM_CLASS, ALGORITHM_FUNCTION),
    "dialect": (DIALECT, DIALECT),
    "reward": (REWARD, REWARD),
    "step_view": (STEP_VIEW, STEP_VIEW),
    "app": (APP, APP),
}


def check_part(kind: PartKind, name: str, part: object) -> None:
    """Raise `InvalidPlugin` for a part with the wrong shape or name, or the name of a built-in."""
    if name == "":  # it is registered by its own name, and has none
        raise InvalidPlugin(
            f"{part!r:.60} is no {kind.replace('_', ' ')}. Expected: {_shape(kind, part).words}"
        )
    called = f"{'an' if kind[0] == 'a' else 'a'} {kind} called {name!r:.60}"
    fits, rule = (_is_label, LABELS) if kind == "app" else (NAME.fullmatch, NAMES)
    if not isinstance(name, str) or not fits(name):
        raise InvalidPlugin(f"{called}; {rule}. Expected: {_shape(kind, part).words}")
    if name in BUILT_IN.get(kind, ()):
        raise InvalidPlugin(f"{called}; DistRL has one of that name: take another")
    shape = _shape(kind, part)
    trouble = _misshapen(shape, part)
    if kind == "task" and isinstance(part, type):
        trouble = trouble or _unfinished(part)
    if kind == "app":
        trouble = trouble or _unfit_app(part)
    if trouble:
        raise InvalidPlugin(f"{kind} {name!r}: {trouble}. Expected: {shape.words}")


def _is_label(name: str) -> bool:
    fits = 1 <= len(name) <= MAX_LABEL and name.isprintable() and name == name.strip()
    return fits and not set(name) & {"/", "\\"}


def _unfinished(template: type) -> str:
    if not dataclasses.is_dataclass(template):
        return "it is no dataclass"
    inherited = [
        name
        for name in ("missing", "solve")
        if getattr(template, name).__qualname__ == f"Template.{name}"
    ]
    return f"it does not say {' and '.join(inherited)}" if inherited else ""


def _unfit_app(app: object) -> str:
    if getattr(app, "home").__qualname__ == "App.home":  # noqa: B009 (seen to be there)
        return "it does not say home"
    for kind in getattr(app, "kinds"):  # noqa: B009
        names = [each.name for each in dataclasses.fields(kind)] if _is_record(kind) else []
        if names[:1] != ["id"]:
            return (
                f"{kind!r:.60} of its kinds is no frozen dataclass with the first field id (one "
                "that inherits another is decorated itself)"
            )
    return ""


def _is_record(kind: object) -> bool:
    """Return whether the class itself is a frozen dataclass: without a decorator of its own, a
    subclass adds no fields.
    """
    params = vars(kind).get("__dataclass_params__") if isinstance(kind, type) else None
    return params is not None and bool(params.frozen)


def _shape(kind: PartKind, part: object) -> Shape:
    of_class, of_others = SHAPES[kind]
    return of_class if isinstance(part, type) else of_others


def _misshapen(shape: Shape, part: object) -> str:
    """Return how a part differs from its shape; empty if it matches."""
    for name, kind in shape.attributes.items():
        if not isinstance(getattr(part, name, None), kind):
            return f"{name} is {getattr(part, name, 'missing')!r:.60}, no {kind.__name__}"
    for name, count in shape.calls.items():
        if trouble := _miscalled(shape, part, name, count):
            return trouble
    unwritten = sorted(getattr(part, "__abstractmethods__", ()))
    return f"it is abstract: it does not say {' and '.join(unwritten)}" if unwritten else ""


def _miscalled(shape: Shape, part: object, name: str, count: int) -> str:
    """Return why a part, or its method `name`, cannot be called as required; empty if it can."""
    called = getattr(part, name, None) if name else part
    if not callable(called):
        return f"{name or 'it'} cannot be called" if called is not None else f"no {name}()"
    is_method = isinstance(part, type) and inspect.isfunction(
        inspect.getattr_static(part, name or "__doc__", None)
    )
    keywords = shape.keywords.get(name, ())
    if _takes(called, count + is_method, keywords, options=shape.options and not name):
        return ""
    given = f"{count} argument{'' if count == 1 else 's'}"
    given += "".join(f" and {each}=…" for each in keywords)
    return f"{name or 'it'}{_signature(called)} cannot be called with {given}"


def _takes(
    called: Callable[..., object], count: int, keywords: tuple[str, ...], *, options: bool
) -> bool:
    given = dict.fromkeys(keywords)
    try:
        signature = inspect.signature(called)
        if options:  # unknown until there are settings; they are passed by name
            bound = signature.bind_partial(*[None] * count, **given)
            return not any(
                each.kind is each.POSITIONAL_ONLY and each.default is each.empty
                for name, each in signature.parameters.items()
                if name not in bound.arguments
            )
        signature.bind(*[None] * count, **given)
    except TypeError:
        return False
    except ValueError:
        return True  # a built-in without a signature
    return True


def _signature(called: Callable[..., object]) -> str:
    try:
        return str(inspect.signature(called))
    except (TypeError, ValueError):
        return "(…)"
