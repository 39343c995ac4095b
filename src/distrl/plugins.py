"""The registry of plug-ins: third-party parts that a run uses by name, without changing DistRL.

    distrl.register_judge("polite", PoliteJudge)    # in a script, at the top of the module

    [project.entry-points."distrl.judges"]          # or in the pyproject.toml of a package
    polite = "distrl_polite:PoliteJudge"

Settings name a part (`judge.kind = "polite"`), and every process finds it: entry points are loaded
when a kind is first looked up; parts that a script has registered are sent to the processes that it
starts (`registered`, `install`), and to those of a Ray cluster. `plugin_shape` declares the
interface of each kind of part; registration refuses others. A package that cannot be loaded is
listed by `broken` and named by the error when its part is looked up, and affects nothing else.

Any module may import this one; of DistRL it imports only `errors` and `plugin_shape`. We weighed
pluggy and stevedore: both are for hooks with many implementations; here a name means one object,
which `importlib.metadata` provides.
"""

from __future__ import annotations

import itertools
import logging
import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar

from distrl.errors import InvalidPlugin, UnknownPlugin
from distrl.plugin_shape import BUILT_IN, KINDS, PartKind, check_part

if TYPE_CHECKING:
    from distrl.agent.dialects.dialect import Dialect
    from distrl.agent.families.model_family import ModelFamily
    from distrl.devices.device import Device
    from distrl.judging.judge import Judge
    from distrl.learning.algorithms.algorithm import Algorithm
    from distrl.records import Task, Trajectory, Verdict
    from phonesim.app import App
    from phonesim.tasks.template import Template

GROUPS: dict[PartKind, str] = {
    kind: "distrl.model_families" if kind == "model_family" else f"distrl.{kind}s" for kind in KINDS
}
P = TypeVar("P")
A = TypeVar("A", bound="App")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plugin:
    """A registered part, and its source."""

    kind: PartKind
    name: str
    part: Any
    source: str  # "package version", or the module that registered it

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.source}"


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """An entry point that could not be loaded, or that lacks the interface of its kind."""

    kind: PartKind
    name: str
    source: str
    error: str

    def __str__(self) -> str:
        return f"the plug-in {self.kind} {self.name!r} of {self.source} is broken: {self.error}"


# Registration ------------------------------------------------------------------------------------


def register_task(task: P) -> P:
    """Register a template for the simulated phone, or a `Task` (`tasks.source = "registered"`).

    It can decorate the template class.
    """
    made: type[Template] | Task = task  # type: ignore[assignment]
    name = getattr(made, "name", "") if isinstance(made, type) else getattr(made, "id", "")
    return _register("task", name, task)


def register_judge(
    name: str, judge: Callable[[Any], Judge] | Callable[[Trajectory], Verdict]
) -> None:
    """Register a class whose instances judge during episodes, or a function that judges after them.

    The thread that plays the episodes calls the instances. One such thread serves all non-blocking
    simulated phones, so make a slow judge a function, which threads of the learner call.
    """
    _register("judge", name, judge)


def register_device(name: str, device: Callable[..., Device]) -> None:
    """Register a class or function that makes a device from a name and `devices.options`."""
    _register("device", name, device)


def register_model_family(family: ModelFamily) -> None:
    """Register a family; its models are recognized by the `model_type` in their config.json."""
    _register("model_family", getattr(family, "name", ""), family)


def register_algorithm(name: str, algorithm: Callable[..., Algorithm]) -> None:
    """Register a class or function that makes an algorithm from a `GradientStep` and
    `learning.options`.
    """
    _register("algorithm", name, algorithm)


def register_dialect(dialect: Dialect) -> None:
    """Register a way of writing actions, for `agent.dialect` or as the dialect of a family."""
    _register("dialect", getattr(dialect, "name", ""), dialect)


def register_reward(name: str, reward: Callable[[Trajectory], Sequence[float]]) -> None:
    """Register a function that rewards each step (`learning.learner.rewards.kind`)."""
    _register("reward", name, reward)


def register_step_view(
    device_kind: str, show: Callable[[Trajectory, int], Mapping[str, str]]
) -> None:
    """Register a function that returns what `distrl view` shows beside a step's screen, for one
    kind of device: texts by title, such as a page's address. They are shown as plain text.
    """
    _register("step_view", device_kind, show)


def register_app(app: type[A]) -> type[A]:
    """Register an app for the simulated phone, a class that inherits `phonesim.app.App`.

    Every phone that is set up afterwards has the app. It can decorate the class.
    """
    return _register("app", getattr(app, "name", ""), app)


# Looking up --------------------------------------------------------------------------------------


def names(kind: PartKind) -> tuple[str, ...]:
    """Return the allowed names of that kind: the built-in parts, then the plug-ins."""
    return (*BUILT_IN.get(kind, ()), *(plugin.name for plugin in plugins(kind)))


def find(kind: PartKind, name: str) -> Any:
    """Return the plug-in of that name; raise `UnknownPlugin`, with all names, if there is none."""
    _load_installed(kind)
    if (kind, name) in _registry.found:
        return _registry.found[kind, name].part
    for each in _registry.broken:
        if (each.kind, each.name) == (kind, name):
            raise UnknownPlugin(f"{each}; mend or uninstall it")
    raise UnknownPlugin(
        f"no {kind} called {name!r} is registered in this process (there are: "
        f"{', '.join(names(kind)) or 'none'}); register it at the top of a module, outside of "
        f"`if __name__ == '__main__'`, or by an entry point of the group {GROUPS[kind]}"
    )


def make(
    kind: PartKind, name: str, *given: Any, options: Mapping[str, Any], members: Sequence[str]
) -> Any:
    """Call the plug-in of that name with DistRL's arguments `given` and its options from settings.

    The result must have all `members`. Raise `InvalidPlugin`, naming the part, for a wrong option
    or a missing member.
    """
    part = find(kind, name)
    try:
        made = part(*given, **options)
    except TypeError as error:
        raise InvalidPlugin(
            f"the {kind} {name!r} cannot be made with its options {dict(options)}: {error}"
        ) from error
    if lacking := [member for member in members if not hasattr(made, member)]:
        raise InvalidPlugin(
            f"the {kind} {name!r} made {made!r:.60}, which lacks {', '.join(lacking)}; "
            f"docs/add-{'an' if kind == 'algorithm' else 'a'}-{kind}.md has a whole one"
        )
    return made


def plugins(kind: PartKind) -> tuple[Plugin, ...]:
    """Return the plug-ins of one kind."""
    _load_installed(kind)
    return tuple(each for each in _registry.found.values() if each.kind == kind)


def broken() -> tuple[BrokenPlugin, ...]:
    """Return the installed plug-ins that cannot be used; call `plugins` for their kinds first."""
    return tuple(_registry.broken)


def generation(kind: PartKind) -> int:
    """Return a number that changes whenever parts are added; for cache keys."""
    _load_installed(kind)
    return _registry.generation


# To other processes ------------------------------------------------------------------------------


def registered() -> tuple[Plugin, ...]:
    """Return what this process registered itself; every process finds installed packages."""
    return tuple(each for each in _registry.found.values() if each not in _registry.installed)


def portable() -> bytes:
    """Pickle `registered()` for a child process of the same program: parts are pickled by name.

    A part without a name in a module (a lambda) is left out: the child registers it itself if that
    is done at the top of a module.
    """
    taken = []
    for each in registered():
        try:
            pickle.dumps(each)
        except (pickle.PicklingError, AttributeError, TypeError):
            log.debug("%s has no name that another process could find it by", each)
        else:
            taken.append(each)
    return pickle.dumps(tuple(taken))


def install(given: Sequence[Plugin]) -> None:
    """Register the parts that another process of this run has registered."""
    for each in given:
        _registry.add(each)


# The registry of this process --------------------------------------------------------------------


_generations = itertools.count()  # no two registries share a number, so that cache keys are unique


@dataclass(slots=True)
class _Registry:
    found: dict[tuple[PartKind, str], Plugin] = field(default_factory=dict)
    installed: list[Plugin] = field(default_factory=list)
    broken: list[BrokenPlugin] = field(default_factory=list)
    loaded: set[PartKind] = field(default_factory=set)
    generation: int = field(default_factory=_generations.__next__)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, plugin: Plugin) -> None:
        """Add a part; it may replace one of the same name only if that is itself, defined twice."""
        with self.lock:
            known = self.found.get((plugin.kind, plugin.name))
            if known is not None and _origin(known.part) != _origin(plugin.part):
                raise InvalidPlugin(
                    f"two parts are called so: {known}, and {plugin}; rename one of them"
                )
            self.found[plugin.kind, plugin.name] = plugin
            self.generation = next(_generations)


_registry = _Registry()


def _register(kind: PartKind, name: str, part: P) -> P:
    check_part(kind, name, part)
    _registry.add(Plugin(kind, name, part, str(getattr(part, "__module__", "this process"))))
    return part


def _load_installed(kind: PartKind) -> None:
    """Load the entry points of a kind, once."""
    with _registry.lock:
        if kind in _registry.loaded:
            return
        _registry.loaded.add(kind)  # before loading: a plug-in may look up parts itself
        for entry in _entry_points():
            if entry.group == GROUPS[kind]:
                _load(kind, entry)


def _load(kind: PartKind, entry: EntryPoint) -> None:
    source = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    try:
        part = entry.load()
        check_part(kind, entry.name, part)
        plugin = Plugin(kind, entry.name, part, source)
        _registry.add(plugin)
    except Exception as error:  # noqa: BLE001 (a package of others may raise anything)
        trouble = BrokenPlugin(kind, entry.name, source, f"{type(error).__name__}: {error}")
        _registry.broken.append(trouble)
        log.warning("%s", trouble)
    else:
        _registry.installed.append(plugin)


@cache
def _entry_points() -> tuple[EntryPoint, ...]:
    return tuple(each for group in GROUPS.values() for each in entry_points(group=group))


def _origin(part: object) -> tuple[object, ...]:
    """Return a key that is equal if a part is defined twice, as when a child imports `__main__`."""
    if not hasattr(part, "__qualname__"):
        return type(part), getattr(part, "name", getattr(part, "id", ""))
    module = str(getattr(part, "__module__", "")).replace("__mp_main__", "__main__")
    return module, part.__qualname__
