"""Refuse setting names of earlier versions, and say what to write instead.

A run's config.toml holds every setting, so that of an old run may have many old names; one message
lists all of them. `load_config` calls `refuse_old_names` before it reads the settings. Old values
with only one possible meaning are converted (`take_old_values`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from distrl.bounds import Fixed, declared, hints_of
from distrl.config.typed_reader import Given, Node, leaves, section_of
from distrl.errors import InvalidSetting

RENAMED = {
    "agent.policy.sampling.most_new_tokens": "agent.policy.sampling.max_new_tokens",
    "devices.android.stillness.longest_seconds": "devices.android.stillness.max_seconds",
    "judge.most_waiting": "judge.max_waiting",
    "judge.most_cost": "judge.max_cost",
    "learning.a_ride.trace": "learning.a_ride.retrace_lambda",
    "learning.group_relative": "learning.grpo",
    "learning.impala.trace": "learning.vtrace.vtrace_lambda",
    "learning.impala": "learning.vtrace",
    "learning.ppo.trace": "learning.ppo.gae_lambda",
    "reporting.films": "reporting.recordings",
}
RENAMED_VALUES = {
    ("learning.algorithm", "impala"): "vtrace",
    ("learning.algorithm", "group_relative"): "grpo",
}
SWITCHES = {"agent.policy.gradient_checkpointing"}  # once true or false, now "on", "off" or others
REMOVED = {  # with the value that is now fixed, or the replacement; a section covers its settings
    "collection.batch_wait_milliseconds": "a batch waits 2 ms to become fuller",
    "devices.drift": "devices.drift is true or false now, for all differences at once",
    "devices.quarantine_after": "a device rests after 3 failures in a row",
    "engine.learner_restarts": "Ray restarts a learner up to 20 times",
    "evaluation.seed": "it is 0, so that all runs are compared on the same test tasks",
    "judge.answer_tokens": "a judge answers in up to 512 tokens",
    "judge.picture_height": "a judge sees screens of up to 1280 pixels",
    "judge.readings": "an answer that cannot be read is asked for 3 times",
    "devices.android.emulator.cores": "give it in devices.android.emulator.more_options",
    "devices.android.emulator.memory_megabytes": (
        "give it in devices.android.emulator.more_options"
    ),
    "judge.last_actions": "a judge is told the last 4 actions",
    "reporting.wandb_project": "the project is distrl",
    "tasks.android_world.deadline_seconds": "a call may take 60 s",
    "tasks.android_world.set_up_seconds": "setting a task up may take 300 s",
}


def refuse_old_names(kind: type, tree: Mapping[str, Node]) -> None:
    """Raise an `InvalidSetting` that lists every old setting in the tree and its replacement."""
    fixed = dict(_fixed_names(kind))
    sentences: dict[str, list[str]] = {}  # by source, a file or a flag
    for name, given in leaves(dict(tree)):
        if sentence := _sentence(name, given, fixed):
            said = sentences.setdefault(given.source, [])
            said += [] if sentence in said else [sentence]
    if sentences:
        raise InvalidSetting(
            "; ".join(f"{'; '.join(said)} ({source})" for source, said in sentences.items())
        )


def take_old_values(tree: dict[str, Node], path: str = "") -> None:
    """Replace old values in the tree by their current form."""
    for name, node in tree.items():
        at = f"{path}{name}"
        if isinstance(node, dict):
            take_old_values(node, f"{at}.")
        elif at in SWITCHES and isinstance(node.value, bool):
            tree[name] = replace(node, value="on" if node.value else "off")


def _sentence(name: str, given: Given, fixed: Mapping[str, str]) -> str:
    for old in _prefixes(name):
        if old in RENAMED:
            return f"{old} was renamed to {RENAMED[old]}"
        why = REMOVED.get(old, fixed.get(old))
        if why is not None and name != "devices.drift":  # once a section, now a single setting
            return f"{old} is no longer a setting: {why}"
    new = RENAMED_VALUES.get((name, str(given.value)))
    return f"{name}={given.value!r} was renamed to {new!r}" if new else ""


def _prefixes(name: str) -> Iterator[str]:
    """Yield the name and the sections that contain it, longest first."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _fixed_names(kind: type, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the full name of every `Fixed` field, and the reason why it is no setting."""
    for name, hint in hints_of(kind).items():
        at, fixed, section = f"{path}{name}", declared(hint, Fixed), section_of(hint)
        if fixed is not None:
            yield at, fixed.why
        elif section is not None:
            yield from _fixed_names(section, f"{at}.")
