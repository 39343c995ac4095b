"""The rules that keep the tree readable, checked against the syntax trees of the code itself.

Each rule is a function from modules to the places where they break it. Every rule is applied to the
code on disk, and also to a small invention that breaks it, so that a rule that can no longer fail
is a red test too. What a rule forbids and why stands beside it; exceptions are listed by name with
their reason.
"""

from __future__ import annotations

import ast
import gc
import graphlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "src/distrl/"

# Data runs in a circle, imports do not: which part of distrl may import which others. Everybody may
# import what travels and what can go wrong; what a module imports for types alone is not counted.
# Each part owns its settings; `config` collects them, so it stands above the parts.
EVERYBODY = {
    "records", "errors", "hierarchy", "bounds", "json_lines", "loopback_peer", "plugin_shape",
    "output_file", "plugins", "private_folder", "processor", "standard_streams", "toml_file",
    "watched_threads",
}  # fmt: skip
CIRCLE = {
    "devices", "judging", "task_sets", "agent", "episodes", "replay", "learning", "weights",
}  # fmt: skip
BELOW = CIRCLE | {"chat", "config", "imitation", "process_environment"}
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": {"api", "config"},  # loaded when a name is first used
    "__main__": {"cli"},
    "errors": set(),
    "records": set(),
    "hierarchy": set(),
    "bounds": set(),
    "plugins": set(),
    "plugin_shape": set(),
    "watched_threads": set(),
    "processor": set(),
    "json_lines": set(),
    "loopback_peer": set(),
    "output_file": set(),
    "private_folder": set(),
    "standard_streams": set(),
    "toml_file": set(),
    "process_environment": set(),
    "chat": set(),
    "config": CIRCLE | {"chat"},
    "devices": set(),
    "judging": {"chat", "replay"},  # a judge reads what is stored; rescoring writes it back
    "task_sets": {"devices"},
    "agent": {"chat", "weights"},  # tensors that lie in the bytes of a weight file
    "replay": set(),
    "weights": set(),
    # An episode packs its screens as they come.
    "episodes": {"devices", "judging", "task_sets", "agent", "replay", "weights"},
    # Devices for other trainers, with the tasks and the judge that settings describe.
    "environments": {"config", "devices", "engine", "episodes", "judging"},
    "learning": {"agent", "replay", "weights"},
    "imitation": {"devices", "agent", "episodes"},
    "runs": BELOW,
    "reporting": BELOW | {"runs"},
    "view": BELOW | {"runs", "reporting"},  # reads what runs write, and changes nothing
    "planning": BELOW | {"runs", "reporting"},  # the circle on paper, and beside a real one
    "engine": BELOW | {"runs", "reporting"},
    "api": BELOW | {"runs", "engine"},
    "cli": BELOW | {"runs", "reporting", "engine", "planning", "view", "api"},
}

# The phone is a package of its own that knows nothing of learning: of distrl it sees only what
# travels between them. Inside, from the pixels upwards, no layer knows one that is listed after it.
PHONE = "phonesim."
PHONE_SEES = (
    "distrl.records", "distrl.errors", "distrl.hierarchy", "distrl.bounds",
    "distrl.plugins", "distrl.plugin_shape", "distrl.loopback_peer", "distrl.standard_streams",
    "distrl.output_file",
)  # fmt: skip
PHONE_LAYERS = (
    "languages", "drawing", "scene", "toolkit", "app", "contents", "web", "apps", "system_ui",
    "compositor", "phone", "tasks",
)  # fmt: skip

# Heavy or far-reaching packages, and the only places that may import them.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "ray": ("distrl.engine",),
    "uvicorn": ("distrl.engine.join", "distrl.environments", "distrl.view"),
    "starlette": ("distrl.engine.join", "distrl.view"),
    "cryptography": ("distrl.engine.join",),
    "torch": ("distrl.agent", "distrl.imitation", "distrl.learning"),
    "transformers": ("distrl.agent", "distrl.learning"),
    "peft": ("distrl.agent", "distrl.learning"),
    "accelerate": (),  # peft needs it; torch.distributed is enough for us
    "android_env": (
        "distrl.devices.android_env.android_env_device",
        "distrl.devices.android_env.android_env_simulator",
        "tests.devices.android_env.test_android_env_device",
        "tests.devices.android_env.test_android_env_simulator",
    ),
    "openenv": ("distrl.environments",),
    "fastmcp": ("distrl.environments",),
    "verifiers": ("distrl.environments",),
    "cube": ("distrl.environments",),
    "gymnasium": (
        "distrl.environments.device_env",
        "phonesim.gymnasium_env",
        "phonesim.gymnasium_registration",
    ),
    "typer": ("distrl.cli", "phonesim.cli"),
    "font_roboto": ("phonesim.drawing", "distrl.reporting"),
    "subprocess": (
        "distrl.devices",
        "distrl.engine",
        "distrl.cli.doctor",
        "tests",
        "benchmarks",
    ),
    "tests": ("tests",),
}

DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "handler"}
MAY_CATCH_ALL = {
    "src/distrl/watched_threads.py",  # carries what a thread raised to its owner
    "src/distrl/plugins.py",  # a broken package of somebody else is named, and stops nothing
    "src/distrl/task_sets/mobilegym_bench.py",  # what its tasks raise becomes a JudgeError
    "src/distrl/agent/model_directory.py",  # tokenizers has no error of its own: becomes NotAModel
    "benchmarks/damage.py",  # looks for errors that are none of ours
    "benchmarks/fuzz.py",
}
# Metaphors where the field has a term (docs/glossary.md), and names that were replaced by it. Where
# an old word must stay: the table of renamed settings, tokens and seeds that are data, the name of
# an algorithm in its paper, and a benchmark that runs an old checkout.
RETIRED = (
    "badge", "chance", "courier", "crew", "desk", "exam", "film", "glimpse", "group_relative",
    "impala", "kinship", "lecture", "ledger", "lesson", "nursery", "office", "reception", "rota",
    "school", "shelf", "survey", "tally", "teacher", "utterance",
)  # fmt: skip
MAY_SAY = {
    "src/distrl/config/renamed.py": {*RETIRED, "most"},
    "src/distrl/agent/starter/configuration.py": {"most"},  # refused by its old name
    "src/distrl/agent/families/idefics.py": {"utterance"},  # <end_of_utterance>
    "src/distrl/agent/architectures/architecture.py": {"teacher"},  # teacher forcing
    "src/distrl/imitation/sample_stream.py": {"lesson"},  # a seed
    "src/distrl/learning/algorithms/vtrace.py": {"impala"},
    "src/distrl/learning/algorithms/grpo.py": {
        "group_relative"
    },  # the advantage, not the algorithm
    "src/distrl/learning/targets/advantages.py": {"group_relative"},
    "benchmarks/store.py": {"ledger", "reception"},
}
MAX_FUNCTION_LINES, MAX_FILE_LINES = 60, 400
LONG_FILES = {  # path: why
    "tests/test_architecture.py": "every rule beside its breach",
    "src/distrl/errors.py": "the tree of errors is in one place",
    "src/distrl/records.py": "all that travels is found in one place: each action is a record",
}


@dataclass(frozen=True)
class Module:
    """A file of ours, read but not run."""

    path: str  # from the root of the repository
    source: str

    @property
    def tree(self) -> ast.Module:
        return _parse(self.source)

    @property
    def name(self) -> str:
        dotted = self.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        return dotted.removesuffix(".__init__")

    @property
    def part(self) -> str:
        """The folder or file below distrl that it belongs to; empty outside the package."""
        inside = self.path.removeprefix(PACKAGE) if self.path.startswith(PACKAGE) else ""
        return inside.split("/")[0].removesuffix(".py")

    @property
    def shipped(self) -> bool:
        return self.path.startswith("src/")

    def imports(self, *, loading: bool = False) -> Iterator[tuple[int, str]]:
        """Line and dotted name of what it imports at run time; `loading`: when it is loaded."""
        return iter(_imports(self.source, loading))

    def at(self, line: int, what: str) -> str:
        return f"{self.path}:{line}: {what}"


Rule = Callable[[list[Module]], list[str]]


@cache
def _parse(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def _nodes(source: str) -> tuple[ast.AST, ...]:
    """Calls, functions and handlers: the only ones of a million that rules ask for."""
    wanted = (ast.Call, ast.FunctionDef, ast.AsyncFunctionDef, ast.ExceptHandler)
    return tuple(node for node in ast.walk(_parse(source)) if isinstance(node, wanted))


@cache
def _imports(source: str, loading: bool) -> tuple[tuple[int, str], ...]:
    found: list[tuple[int, str]] = []
    for node in _statements(_parse(source), into_functions=not loading):
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
    return tuple(found)


def _statements(node: ast.AST, *, into_functions: bool) -> Iterator[ast.AST]:
    """Every statement, but not what stands under `if TYPE_CHECKING`."""
    yield node
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        children = node.orelse
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not into_functions:
        children = ()
    for child in children:
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _statements(child, into_functions=into_functions)


def _dotted(node: ast.expr) -> str:
    """`a.b.c` as it is written; of anything else its last attribute alone."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _within(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


# The rules ---------------------------------------------------------------------------------------


def folders_import_along_the_circle(modules: list[Module]) -> list[str]:
    broken = []
    for module in modules:
        if not module.part:
            continue
        if module.part not in MAY_IMPORT:
            broken.append(module.at(1, f"{module.part} has no place in MAY_IMPORT; give it one"))
            continue
        allowed = MAY_IMPORT[module.part] | EVERYBODY | {module.part}
        for line, name in module.imports():
            part = name.split(".")[1] if name.startswith("distrl.") else ""
            if part in MAY_IMPORT and part not in allowed:
                broken.append(module.at(line, f"{module.part} may not import {name}"))
    return broken


def the_phone_knows_nothing_of_learning(modules: list[Module]) -> list[str]:
    return [
        module.at(line, f"phonesim may not import {name}")
        for module in modules
        if module.path.startswith("src/phonesim/")
        for line, name in module.imports()
        if _within(name, ("distrl",)) and not _within(name, PHONE_SEES)
    ]


def phone_layers_look_down_only(modules: list[Module]) -> list[str]:
    def layer(name: str) -> int:
        part = name.removeprefix(PHONE).split(".")[0] if name.startswith(PHONE) else ""
        return PHONE_LAYERS.index(part) if part in PHONE_LAYERS else -1

    return [
        module.at(line, f"{PHONE_LAYERS[layer(module.name)]} may not import {name}")
        for module in modules
        if layer(module.name) >= 0
        for line, name in module.imports()
        if layer(name) > layer(module.name)
    ]


def heavy_packages_stay_in_their_place(modules: list[Module]) -> list[str]:
    return [
        module.at(line, f"{name} may be imported only in {', '.join(places)}")
        for module in modules
        for line, name in module.imports()
        for package, places in ONLY_IN.items()
        if _within(name, (package,))
        and not _within(module.name, places)
        and (module.shipped or package == "tests")  # tests and benchmarks may use what they measure
    ]


def no_import_cycles(modules: list[Module]) -> list[str]:
    names = {module.name for module in modules}
    graph: dict[str, set[str]] = {}
    for module in modules:
        found = {name for _, name in module.imports(loading=True)}
        known = {name if name in names else name.rpartition(".")[0] for name in found}
        graph[module.name] = (known & names) - {module.name}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return [" → ".join(error.args[1])]
    return []


def no_drawers(modules: list[Module]) -> list[str]:
    """A file is a noun. A drawer's name says nothing, so anything ends up in it."""
    return [
        f"{module.path}: '{word}' says nothing about what is inside; name the thing"
        for module in modules
        for word in re.split(r"[/_.]", module.path)
        if word in DRAWERS
    ]


def modules_say_what_they_are_for(modules: list[Module]) -> list[str]:
    return [
        module.at(1, "no docstring: say what it is for, what it promises, who calls it")
        for module in modules
        if not (ast.get_docstring(module.tree) or "").strip()
    ]


def nothing_is_caught_blindly(modules: list[Module]) -> list[str]:
    """`except Exception` hides our own mistakes; name the errors that the world makes."""

    def broad(kind: ast.expr | None) -> bool:
        names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
        return any(n is None or ast.unparse(n) in {"Exception", "BaseException"} for n in names)

    broken = []
    for module in modules:
        for node in _nodes(module.source) if module.path not in MAY_CATCH_ALL else ():
            if isinstance(node, ast.ExceptHandler) and broad(node.type):
                broken.append(module.at(node.lineno, "catches everything"))
            if isinstance(node, ast.Call) and _dotted(node.func).endswith("suppress"):
                kinds = [argument for argument in node.args if broad(argument)]
                broken += [module.at(kind.lineno, "suppresses everything") for kind in kinds]
    return broken


def functions_fit_on_a_screen(modules: list[Module]) -> list[str]:
    return [
        module.at(node.lineno, f"{node.name} has {lines} lines, more than {MAX_FUNCTION_LINES}")
        for module in modules
        for node in _nodes(module.source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]


def files_are_one_noun(modules: list[Module]) -> list[str]:
    lengths = {module.path: module.source.count("\n") for module in modules}
    broken = [
        f"{path}: {lines} lines, more than {MAX_FILE_LINES}; it is probably two nouns"
        for path, lines in lengths.items()
        if lines > MAX_FILE_LINES and path not in LONG_FILES
    ]
    stale = [path for path in LONG_FILES if lengths.get(path, MAX_FILE_LINES + 1) <= MAX_FILE_LINES]
    return broken + [f"{path}: no longer long; take it off LONG_FILES" for path in stale]


def randomness_comes_from_seeds(modules: list[Module]) -> list[str]:
    """The module-wide generators and `hash` differ from process to process; a seed does not."""
    allowed = {"random.Random", "numpy.random.Generator", "numpy.random.default_rng"}
    broken = []
    for module in (each for each in modules if each.shipped):
        calls = [node for node in _nodes(module.source) if isinstance(node, ast.Call)]
        used = [(call.lineno, _dotted(call.func)) for call in calls] + list(module.imports())
        for line, name in used:
            whole = re.sub(r"^np\.", "numpy.", name)
            if whole == "hash" or (
                re.fullmatch(r"(numpy\.)?random\.\w+", whole) and whole not in allowed
            ):
                broken.append(module.at(line, f"{name} knows no seed"))
    return broken


def private_ray_api_stays_in_one_file(modules: list[Module]) -> list[str]:
    """Also where a module is imported by its name; that file says why there is no other way."""
    return [
        module.at(1, "uses Ray's private API")
        for module in modules
        if module.shipped and module.path != "src/distrl/engine/ray/cluster/ray_internals.py"
        if re.search(r"\bray\._", module.source)
    ]


def retired_words_stay_retired(modules: list[Module]) -> list[str]:
    pattern = re.compile(rf"(?<![a-z])({'|'.join(RETIRED)})(?:e?s)?(?![a-z])|\b(most)_(?!common)")
    return [
        module.at(number, f"'{found[0]}' is retired; docs/glossary.md has the field's word")
        for module in modules
        if module.path.startswith((PACKAGE, "benchmarks/"))
        for number, line in enumerate([module.path, *module.source.splitlines()])
        for found in pattern.finditer(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", line).lower())
        if (found[1] or found[2]) not in MAY_SAY.get(module.path, ())
    ]


def engine_modules_have_a_test_of_their_name(modules: list[Module]) -> list[str]:
    paths = {module.path for module in modules}
    wanted = {
        path: re.sub(r"^src/distrl/(.*?)(\w+\.py)$", r"tests/\1test_\2", path)
        for path in paths
        if path.startswith("src/distrl/engine/") and not path.endswith("__init__.py")
    }
    return [f"{path}: there is no {test}" for path, test in wanted.items() if test not in paths]


# The rules against the code on disk --------------------------------------------------------------


@cache
def _modules() -> list[Module]:
    paths = [p for folder in ("src", "tests", "benchmarks") for p in (ROOT / folder).rglob("*.py")]
    return [Module(p.relative_to(ROOT).as_posix(), p.read_text("utf-8")) for p in sorted(paths)]


RULES: tuple[Rule, ...] = (
    folders_import_along_the_circle,
    the_phone_knows_nothing_of_learning,
    phone_layers_look_down_only,
    heavy_packages_stay_in_their_place,
    no_import_cycles,
    no_drawers,
    modules_say_what_they_are_for,
    nothing_is_caught_blindly,
    functions_fit_on_a_screen,
    files_are_one_noun,
    randomness_comes_from_seeds,
    private_ray_api_stays_in_one_file,
    retired_words_stay_retired,
    engine_modules_have_a_test_of_their_name,
)


@pytest.fixture(scope="module", autouse=True)
def million_nodes() -> Iterator[None]:
    """The trees live as long as these tests: gc, looking for others, took half of their time."""
    gc.disable()
    yield
    for kept in (_imports, _nodes, _parse, _modules):
        kept.cache_clear()
    gc.enable()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_code_keeps(rule: Rule) -> None:
    assert len(_modules()) > 40
    assert not (broken := rule(_modules())), "\n" + "\n".join(broken)


DEVICE = "src/distrl/devices/handset.py"
BREACHES: list[tuple[Rule, str, str]] = [
    (folders_import_along_the_circle, DEVICE, "from distrl.judging.judge import Judge"),
    (folders_import_along_the_circle, DEVICE, "def f():\n    import distrl.agent.policy"),
    (folders_import_along_the_circle, "src/distrl/records.py", "from distrl import devices"),
    (folders_import_along_the_circle, "src/distrl/attic/old.py", "import json"),
    (
        phone_layers_look_down_only,
        "src/phonesim/apps/notes.py",
        "from phonesim.phone import Phone",
    ),
    (
        phone_layers_look_down_only,
        "src/phonesim/drawing/canvas.py",
        "from phonesim import scene",
    ),
    (the_phone_knows_nothing_of_learning, "src/phonesim/phone.py", "import distrl.agent.policy"),
    (the_phone_knows_nothing_of_learning, "src/phonesim/phone.py", "from distrl import devices"),
    (heavy_packages_stay_in_their_place, "src/phonesim/phone.py", "import torch"),
    (heavy_packages_stay_in_their_place, "src/distrl/learning/learner.py", "import ray"),
    (heavy_packages_stay_in_their_place, "src/distrl/judging/judge.py", "from torch import nn"),
    (heavy_packages_stay_in_their_place, "src/distrl/learning/learner.py", "import accelerate"),
    (heavy_packages_stay_in_their_place, DEVICE, "import gymnasium.spaces"),
    (heavy_packages_stay_in_their_place, DEVICE, "from tests.phone import screen"),
    (no_drawers, "src/distrl/devices/adb_utils.py", ""),
    (no_drawers, "src/distrl/common/text.py", ""),
    (modules_say_what_they_are_for, DEVICE, "import json"),
    (modules_say_what_they_are_for, DEVICE, '"""  """'),
    (nothing_is_caught_blindly, DEVICE, "try:\n    f()\nexcept Exception:\n    pass"),
    (nothing_is_caught_blindly, DEVICE, "try:\n    f()\nexcept:\n    pass"),
    (
        nothing_is_caught_blindly,
        DEVICE,
        "try:\n    f()\nexcept (OSError, BaseException):\n    pass",
    ),
    (nothing_is_caught_blindly, DEVICE, "with contextlib.suppress(Exception):\n    f()"),
    (functions_fit_on_a_screen, DEVICE, "def f():\n" + "    g()\n" * 60),
    (files_are_one_noun, DEVICE, "f()\n" * 401),
    (engine_modules_have_a_test_of_their_name, "src/distrl/engine/run/new.py", ""),
    (retired_words_stay_retired, DEVICE, "class CollectorCrew: ..."),
    (retired_words_stay_retired, DEVICE, '"""Asks the desk."""'),
    (retired_words_stay_retired, DEVICE, "most_new_tokens = 8"),
    (retired_words_stay_retired, "src/distrl/engine/collector_nursery.py", ""),
    (randomness_comes_from_seeds, DEVICE, "random.shuffle(cards)"),
    (randomness_comes_from_seeds, DEVICE, "from random import choice"),
    (randomness_comes_from_seeds, DEVICE, "np.random.rand(3)"),
    (randomness_comes_from_seeds, DEVICE, "hash('notes')"),
    (private_ray_api_stays_in_one_file, DEVICE, "import_module('ray._raylet')"),
]


@pytest.mark.parametrize(("rule", "path", "source"), BREACHES)
def test_a_breach_is_seen(rule: Rule, path: str, source: str) -> None:
    assert rule([Module(path, source)])


def test_a_cycle_is_seen_and_types_make_none() -> None:
    first = Module("src/distrl/a.py", "from distrl.b import B")
    assert no_import_cycles([first, Module("src/distrl/b.py", "import distrl.a")])
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from distrl.a import A"
    assert not no_import_cycles([first, Module("src/distrl/b.py", typed)])
    late = "def f():\n    from distrl.a import A"
    assert not no_import_cycles([first, Module("src/distrl/b.py", late)])


# What loading costs ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("distrl", {"numpy", "PIL", "torch", "ray", "gymnasium", "typer", "rich"}),
        ("distrl.errors", {"numpy", "PIL", "torch", "ray", "gymnasium", "typer", "rich"}),
        ("distrl.records", {"PIL", "torch", "ray", "gymnasium", "typer", "rich"}),
        ("phonesim", {"numpy", "PIL", "torch", "ray", "gymnasium", "typer", "rich"}),
        ("phonesim.phone", {"torch", "ray", "gymnasium", "typer", "rich"}),
        ("distrl.cli.main", {"PIL", "torch", "ray", "gymnasium"}),
    ],
)
def test_importing_is_light(module: str, heavy: set[str]) -> None:
    """Every collector process pays for its imports, so nothing is loaded that is not needed."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"there is no {module} yet")
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert module.split(".")[0] in answer.stdout.split()
    assert not heavy & set(answer.stdout.split())
