"""The task sets: all templates, all splits, and `load_task`, which rebuilds a task from its id.

An id is `template/split/number`; it seeds the parameters, the phrasing and the phone, so that the
id alone rebuilds the task. Training and test phones differ, too. The splits:
- `train`, and `test` with the same templates but parameters that training never draws;
- `held_out_templates`: templates that no demonstration shows, for testing;
- `undemonstrated`: the same held-out templates, to be learned by reward, and `undemonstrated_test`
  to test that, with parameters and phones of its own;
- `held_out_apps`: tasks in apps or shops that no training task uses;
- `paraphrased`, `other_words`: tasks of `test` in sentences that no demonstration has (`wordings`);
- `high_stakes`: tasks of the family `everyday` in which something must not go wrong;
- `long`: tasks of `everyday` whose parts add up to more than twelve steps on average (a single task
  may take 11, or 25). Both are for testing only, and no other split has these tasks.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import random
from collections.abc import Iterator
from functools import cache

from distrl import plugins
from distrl.errors import InvalidPlugin, UnknownTask
from distrl.records import CORE_FAMILIES, SPLITS, Difficulty, Family, Split, Task, tasks_split
from phonesim.tasks.domains import domain_of
from phonesim.tasks.everyday import EVERYDAY_TEMPLATES
from phonesim.tasks.general import GENERAL_TEMPLATES
from phonesim.tasks.shopping import SHOPPING_TEMPLATES
from phonesim.tasks.template import Template
from phonesim.tasks.wordings import REWORDED, wordings

HELD_OUT_APPS = frozenset({"Files", "Weather"})
STEP_LIMITS: dict[Difficulty, int] = {"easy": 10, "medium": 15, "hard": 25, "long": 50}
PHONES = 10_000  # phone seeds in each split


def templates() -> dict[str, type[Template]]:
    """Return all templates by name, those of plug-ins last."""
    return _templates(plugins.generation("task"))


@cache
def _templates(_generation: int) -> dict[str, type[Template]]:
    found = dict(_built_in())
    for plugin in plugins.plugins("task"):
        if plugin.name in found:
            raise InvalidPlugin(f"{plugin} has the name of a template of ours; take another")
        if isinstance(plugin.part, type):
            found[plugin.name] = plugin.part
    return found


@cache
def _built_in() -> dict[str, type[Template]]:
    found: dict[str, type[Template]] = {}
    for template in (*GENERAL_TEMPLATES, *SHOPPING_TEMPLATES, *EVERYDAY_TEMPLATES):
        if template.name in found:
            raise ValueError(f"two templates are called {template.name}")
        found[template.name] = template
    return found


def splits_of(template: type[Template]) -> tuple[Split, ...]:
    """Return the splits in which a template has tasks."""
    if template.high_stakes:
        return ("high_stakes",)
    if template.difficulty == "long":
        return ("long",)
    if HELD_OUT_APPS.intersection(template.apps):
        return ("held_out_apps",)
    if template.held_out:
        return ("held_out_templates", "undemonstrated", "undemonstrated_test")
    fields = dataclasses.fields(template)  # type: ignore[arg-type]
    if any(domain_of(field).reserved for field in fields):
        return ("train", "test", *_reworded(template), "held_out_apps")
    return ("train", "test", *_reworded(template))


def _reworded(template: type[Template]) -> tuple[Split, ...]:
    return tuple(split for split in REWORDED if template.name in wordings()[split])


def original(task_id: str) -> str:
    """Return the id of the `test` task that a reworded task repeats; for others, their own id."""
    name, _, rest = task_id.partition("/")
    split, _, number = rest.partition("/")
    return f"{name}/test/{number}" if split in REWORDED else task_id


def template_names(split: Split, family: Family | None = None) -> list[str]:
    """Return the templates that have tasks in a split: of a family, or of both core families.

    If `family` is None and the core families have no tasks in the split, return all families'.
    """
    found = {name: each for name, each in templates().items() if split in splits_of(each)}
    if family is not None:
        return [name for name, each in found.items() if each.family == family]
    return [name for name, each in found.items() if each.family in CORE_FAMILIES] or list(found)


def load_task(task_id: str) -> tuple[Task, Template]:
    """Return the task of an id such as `notes.create/train/7`, and its template instance."""
    name, split = _parse(task_id)
    template = templates()[name]
    same = original(task_id)
    drawn = tasks_split(split)
    rng = random.Random(same)
    parts = template.draw(rng, drawn)
    instruction = parts.instruction(rng)
    if split in REWORDED:
        instruction = wordings()[split][name].format(**parts.words())
    task = Task(
        id=task_id,
        instruction=instruction,
        family=template.family,
        template=name,
        split=split,
        seed=phone_seed(same, drawn),
        apps=template.apps,
        difficulty=template.difficulty,
        step_limit=STEP_LIMITS[template.difficulty],
    )
    return task, parts


def phone_seed(task_id: str, split: Split) -> int:
    digest = hashlib.blake2b(task_id.encode(), digest_size=6).digest()
    return SPLITS.index(split) * PHONES + int.from_bytes(digest, "big") % PHONES


def tasks(split: Split, family: Family | None = None, start: int = 0) -> Iterator[Task]:
    """Yield the tasks of a split without end: each number, from `start`, for all its templates."""
    names = template_names(split, family)
    if not names:
        raise UnknownTask(f"no templates in the split {split!r} of the family {family!r}")
    number = start
    while True:
        for name in names:
            yield load_task(f"{name}/{split}/{number}")[0]
        number += 1


def _parse(task_id: str) -> tuple[str, Split]:
    name, _, rest = task_id.partition("/")
    split_name, _, number = rest.partition("/")
    if name not in templates():
        near = difflib.get_close_matches(name, templates(), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; `distrl tasks` lists them all"
        raise UnknownTask(f"no task template called {name!r}{hint}")
    if not (number.isascii() and number.isdecimal() and number == str(int(number))):
        raise UnknownTask(
            f"task id {task_id!r} is not template/split/number, for example {name}/train/0"
        )
    for split in splits_of(templates()[name]):
        if split == split_name:
            return name, split
    have = ", ".join(splits_of(templates()[name]))
    raise UnknownTask(f"template {name!r} has no tasks in the split {split_name!r}; it has: {have}")
