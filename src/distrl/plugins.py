"""Parts of others, known by name: a run uses them without any change to DistRL.

    distrl.register_judge("polite", PoliteJudge)    # in a script, at the top of the module

    [project.entry-points."distrl.judges"]          # or in the pyproject.toml of a package
    polite = "distrl_polite:PoliteJudge"

Settings name a part (`judge.kind = "polite"`), and every process finds it: entry points are loaded
where a kind is first asked for; what a script has registered travels to the processes it starts
(`registered`, `install`), and to those of a Ray cluster. `plugin_shape` says what each kind of part
looks like; what does not is refused at registration. A package that cannot be loaded is named by
`broken` and by whoever asks for its part, and stops nothing else.

Everything may import this module; it imports nothing of DistRL but its errors. pluggy and stevedore
were weighed: both are about hooks that many implement; here a name means one object, which is what
`importlib.metadata` has.
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
    """A registered part, and where it came from."""

    kind: PartKind
    name: str
    part: Any
    source: str  # "package version", or the module that registered it

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.source}"


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """An entry point that could not be loaded, or is not of the shape of its kind."""

    kind: PartKind
    name: str
    source: str
    error: str

    def __str__(self) -> str:
        return f"the plug-in {self.kind} {self.name!r} of {self.source} is broken: {self.error}"


# Registration ------------------------------------------------------------------------------------


def register_task(task: P) -> P:
    """Register a template for the simulated phone, or a `Task` (`tasks.source = "registered"`).

    May be used as a decorator of the template.
    """
    made: type[Template] | Task = task  # type: ignore[assignment]
    name = getattr(made, "name", "") if isinstance(made, type) else getattr(made, "id", "")
    return _register("task", name, task)


def register_judge(
    name: str, judge: Callable[[Any], Judge] | Callable[[Trajectory], Verdict]
) -> None:
    """Register a class whose instances judge during episodes, or a function that judges after.

    An instance is asked by the thread that plays, which on simulated phones that never wait is one
    for all: what takes long is better a function, which threads of the learner call.
    """
    _register("judge", name, judge)


def register_device(name: str, device: Callable[..., Device]) -> None:
    """Register what makes a device from its name and the table `devices.options`."""
    _register("device", name, device)


def register_model_family(family: ModelFamily) -> None:
    """Register a family; its models are known by the `model_type` in their config.json."""
    _register("model_family", getattr(family, "name", ""), family)


def register_algorithm(name: str, algorithm: Callable[..., Algorithm]) -> None:
    """Register what makes an algorithm from a `GradientStep` and the table `learning.options`."""
    _register("algorithm", name, algorithm)


def register_dialect(dialect: Dialect) -> None:
    """Register a way of writing actions (`agent.dialect`, or that of a family)."""
    _register("dialect", getattr(dialect, "name", ""), dialect)


def register_reward(name: str, reward: Callable[[Trajectory], Sequence[float]]) -> None:
    """Register a function that rewards each step (`learning.learner.rewards.kind`)."""
    _register("reward", name, reward)


def register_step_view(
    device_kind: str, show: Callable[[Trajectory, int], Mapping[str, str]]
) -> None:
    """Register what `distrl view` shows of a step beside its screen, for one kind of device: texts
    by their titles, such as the address of a page. They are shown as text, whatever they are.
    """
    _register("step_view", device_kind, show)


def register_app(app: type[A]) -> type[A]:
    """Register an app for the simulated phone, of a class that inherits `phonesim.app.App`.

    It is on every phone that is set up afterwards. May be used as a decorator of the class.
    """
    return _register("app", getattr(app, "name", ""), app)


# Looking up --------------------------------------------------------------------------------------


def names(kind: PartKind) -> tuple[str, ...]:
    """What a setting of that kind may be: our own parts, then those of others."""
    return (*BUILT_IN.get(kind, ()), *(plugin.name for plugin in plugins(kind)))


def find(kind: PartKind, name: str) -> Any:
    """The registered part of that name; `UnknownPlugin` says which ones there are."""
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
    """Call the part of that name with what DistRL gives it, and with its options of the settings.

    What it makes must have `members`; both a wrong option and a missing member name the part.
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
    """The parts of others of one kind."""
    _load_installed(kind)
    return tuple(each for each in _registry.found.values() if each.kind == kind)


def broken() -> tuple[BrokenPlugin, ...]:
    """What is installed and cannot be used; call `plugins` for the kinds in question first."""
    return tuple(_registry.broken)


def generation(kind: PartKind) -> int:
    """Another number whenever parts were added; for caches."""
    _load_installed(kind)
    return _registry.generation


# To other processes ------------------------------------------------------------------------------


def registered() -> tuple[Plugin, ...]:
    """What this process has registered itself; installed packages are found everywhere."""
    return tuple(each for each in _registry.found.values() if each not in _registry.installed)


def portable() -> bytes:
    """`registered` for a child process of the same program: parts are pickled by their name.

    One that has no name in a module (a lambda) is left out: the child registers it itself where
    that is done at the top of a module.
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
    """Register what another process of this run has registered."""
    for each in given:
        _registry.add(each)


# The registry of this process --------------------------------------------------------------------


_generations = itertools.count()  # no two registries share a number, for the sake of caches


@dataclass(slots=True)
class _Registry:
    found: dict[tuple[PartKind, str], Plugin] = field(default_factory=dict)
    installed: list[Plugin] = field(default_factory=list)
    broken: list[BrokenPlugin] = field(default_factory=list)
    loaded: set[PartKind] = field(default_factory=set)
    generation: int = field(default_factory=_generations.__next__)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, plugin: Plugin) -> None:
        """Add a part; one of the same name may replace it if it is the same one, made anew."""
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
        _registry.loaded.add(kind)  # first: what is loaded may ask for parts itself
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
    """The same for a part that its module has made twice, as `__main__` is in child processes."""
    if not hasattr(part, "__qualname__"):
        return type(part), getattr(part, "name", getattr(part, "id", ""))
    module = str(getattr(part, "__module__", "")).replace("__mp_main__", "__main__")
    return module, part.__qualname__
