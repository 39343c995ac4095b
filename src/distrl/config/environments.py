"""Several environments in one run: each has tasks, the devices they are played on, and a judge.

    [environments.phone]
    settings = "quick_start"      # a name or a file: take its tasks, devices, judge,
    collectors = 1                #   collection.stop_on_success and evaluation.split

    [environments.phone.devices]
    count = 4                     # and change what is written here

Without this table, a run has one environment: its own sections. With it, those sections of the run
are unused and may not be given. `settings` is resolved when settings are loaded, so that a run's
`config.toml` has every environment in full and depends on no other file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from distrl.bounds import Bounds, Checked, Meaning
from distrl.config.sections import DeviceSettings, JudgeSettings
from distrl.config.task_settings import TaskSettings
from distrl.config.typed_reader import Given, Node, leaves
from distrl.errors import InvalidSetting
from distrl.records import Split

NAME = r"[a-z][a-z0-9_]{0,30}"  # it is a prefix or suffix of device and metric names
SECTIONS = ("tasks", "devices", "judge")
# Settings that an environment has under another name: the run's own setting is unused then.
SINGLE = {
    "collectors": "collection.collectors",
    "stop_on_success": "collection.stop_on_success",
    "evaluation_split": "evaluation.split",
}
OF_ENVIRONMENTS = frozenset({*SECTIONS, *SINGLE.values()})
Tree = dict[str, Node]


@dataclass(frozen=True, slots=True)
class EnvironmentSettings(Checked):
    """One of several environments of a run. With `settings = "NAME"` in its table, settings that
    are not in the table come from other settings: a name, a file or a run.
    """

    collectors: Annotated[int, Bounds(1, 1024, "collectors of the run play in it")] = 1
    stop_on_success: Annotated[
        bool, Meaning("the judge ends an episode as soon as the task is done")
    ] = False
    measured: Annotated[
        bool, Meaning("success in it is evaluated before, during and after training")
    ] = True
    evaluation_split: Annotated[Split, Meaning("that it is evaluated on")] = "test"
    tasks: TaskSettings = field(default_factory=TaskSettings)
    devices: DeviceSettings = field(default_factory=DeviceSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)


def resolve_environments(tree: Tree, read: Callable[[str], Tree]) -> Tree:
    """Replace `settings` of each environment by the settings that it names, as `read` returns them.

    Raise `InvalidSetting` for settings of the run that belong to its environments.
    """
    named = tree.get("environments")
    if not isinstance(named, dict) or not named:
        return tree
    for name, given in leaves(tree):
        own = _own_name(name)
        if own:
            raise InvalidSetting(
                f"{name}={given.value!r} ({given.source}): each environment of the run has its "
                f"own: give {' or '.join(f'environments.{each}.{own}' for each in named)}"
            )
    return tree | {
        "environments": {name: _resolved(name, each, read) for name, each in named.items()}
    }


def _own_name(name: str) -> str:
    """Return the name that a setting of the run has in an environment; empty if it has none."""
    if name.partition(".")[0] in SECTIONS:
        return name
    return next((own for own, full in SINGLE.items() if full == name), "")


def _resolved(name: str, own: Node, read: Callable[[str], Tree]) -> Node:
    if not isinstance(own, dict) or "settings" not in own:
        return own
    given = own["settings"]
    if not isinstance(given, Given) or not isinstance(given.value, str) or not given.value:
        raise InvalidSetting(
            f"environments.{name}.settings: give the name of settings, such as quick_start, or a "
            "TOML file"
        )
    at = f"environments.{name}.settings={given.value!r} ({given.source})"
    try:
        other = read(given.value)
    except InvalidSetting as error:
        raise InvalidSetting(f"{at}: {error}") from error
    if "environments" in other:
        raise InvalidSetting(
            f"{at}: those settings have environments themselves; name what one of them is made from"
        )
    taken = {each: other[each] for each in SECTIONS if each in other}
    for single, full in SINGLE.items():
        section, _, setting = full.partition(".")
        inside = other.get(section)
        if single != "collectors" and isinstance(inside, dict) and setting in inside:
            taken[single] = inside[setting]
    return merged(taken, {each: node for each, node in own.items() if each != "settings"})


def merged(below: Tree, above: Tree) -> Tree:
    """Merge two trees; `above` takes precedence."""
    found = dict(below)
    for name, node in above.items():
        old = found.get(name)
        both = isinstance(old, dict) and isinstance(node, dict)
        found[name] = merged(old, node) if both else node  # type: ignore[arg-type]
    return found


def join_environment(
    settings: dict[str, Any], chosen: str, sources: Collection[str]
) -> tuple[dict[str, Any], str]:
    """Return the learner's settings for a collector that joins one environment, and its name.

    The environment is the `chosen` one, or the first whose `tasks.source` is among `sources`. The
    result (plain TOML) has no environments. The name is empty if the run has no environments.
    """
    named = settings.get("environments")
    if not isinstance(named, Mapping) or not named:
        if chosen:
            raise InvalidSetting(f"--environment {chosen}: the learner's run has no environments")
        return settings, ""
    found = [chosen] if chosen else [name for name in named if _source(named[name]) in sources]
    if not found or found[0] not in named:
        raise InvalidSetting(
            f"the learner's run has the environments {', '.join(named)}, and "
            + (f"none is called {chosen}" if chosen else "none has tasks for these devices")
            + ": give --environment NAME, and devices that can play its tasks"
        )
    own = dict(named[found[0]])
    taken = {name: each for name, each in settings.items() if name != "environments"}
    taken |= {name: own[name] for name in ("tasks", "judge") if name in own}  # not its devices
    for single, full in SINGLE.items():
        section, _, setting = full.partition(".")
        if single in own:
            taken[section] = {**taken.get(section, {}), setting: own[single]}
    return taken, found[0]


def _source(environment: Any) -> str:
    tasks = environment.get("tasks") if isinstance(environment, Mapping) else None
    return str(tasks.get("source", "")) if isinstance(tasks, Mapping) else ""
