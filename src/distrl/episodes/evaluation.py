"""Evaluation of an agent: play many tasks, each once, and count the outcomes.

`evaluation_tasks` generates the tasks from a seed: it alternates between families, and within each
goes through the templates in a shuffled order. So any number of episodes is as balanced as
possible, and a longer evaluation begins with the tasks of a shorter one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TypeVar

from distrl.agent.policy import Policy, reads_elements
from distrl.agent.simple_policies import ConstantPolicy, MonkeyPolicy
from distrl.devices.device import Device
from distrl.episodes.demonstrations import ScriptedPolicy
from distrl.episodes.episode import Attempt, Episode, EpisodeBatch
from distrl.episodes.outcome import Outcome, outcome_of
from distrl.errors import DeviceError, UnknownTask, UsageError
from distrl.judging.judge import Judge
from distrl.records import (
    CORE_FAMILIES,
    FAMILIES,
    FAMILY_CHOICES,
    SPLITS,
    Done,
    FamilyChoice,
    Split,
    Task,
    Trajectory,
    Wait,
    chosen_families,
)
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task, template_names

D = TypeVar("D", bound=Device)
PolicyFor = Callable[[Task, Device, Judge], Policy]
TRIES = 3  # to begin an episode: a device may recover from a fault before its first screen


def scripted(task: Task, device: Device, judge: Judge) -> Policy:
    """Return the task's own solution; only tasks of the simulated phone have one."""
    if not isinstance(judge, FactJudge):
        raise UsageError(f"{task.id} has no scripted solution; simulated tasks have one")
    return ScriptedPolicy(device, judge)


SIMPLE_AGENTS: dict[str, PolicyFor] = {
    "scripted": scripted,
    "idle": lambda task, device, judge: ConstantPolicy(Wait()),
    "done": lambda task, device, judge: ConstantPolicy(Done()),
    "monkey": lambda task, device, judge: MonkeyPolicy(task.seed),
}
LONGEST_PATTERN = 200  # characters of a pattern of template names
NUMBERS = 10_000  # distance between the first task numbers of two consecutive seeds


def play(
    tasks: Iterable[Task],
    policy_for: PolicyFor,
    devices: Sequence[SimulatedDevice],
    *,
    stop_on_success: bool = False,
) -> Iterator[Trajectory]:
    """Play one episode for each task on all devices at once; yield trajectories as they end."""

    return play_on(tasks, policy_for, devices, FactJudge, stop_on_success=stop_on_success)


def play_on(
    tasks: Iterable[Task],
    policy_for: PolicyFor,
    devices: Sequence[D],
    judge_for: Callable[[D], Judge],
    *,
    stop_on_success: bool = False,
) -> Iterator[Trajectory]:
    """Play like `play`, on any devices; one that blocks delays the others."""

    def begin(task: Task, device: D) -> Attempt:
        judge = judge_for(device)
        policy = policy_for(task, device, judge)
        episode = begin_episode(task, device, judge, policy, stop_on_success=stop_on_success)
        return Attempt(episode, policy)

    return EpisodeBatch(tasks, devices, begin).trajectories()


def begin_episode(
    task: Task, device: Device, judge: Judge, policy: Policy, *, stop_on_success: bool = False
) -> Episode:
    """Begin an episode with the inputs that the policy reads; retry if the device fails."""
    for _ in range(TRIES - 1):
        with suppress(DeviceError):
            return _begun(task, device, judge, policy, stop_on_success)
    return _begun(task, device, judge, policy, stop_on_success)


def _begun(
    task: Task, device: Device, judge: Judge, policy: Policy, stop_on_success: bool
) -> Episode:
    elements = reads_elements(policy)
    return Episode.begin(task, device, judge, stop_on_success=stop_on_success, elements=elements)


def evaluate(
    tasks: Iterable[Task],
    policy_for: PolicyFor,
    devices: Sequence[SimulatedDevice],
    *,
    stop_on_success: bool = False,
    seen: Callable[[Trajectory], None] = lambda trajectory: None,
) -> list[Outcome]:
    """Play one episode for each task; call `seen` with every trajectory as it ends."""
    outcomes = []
    for trajectory in play(tasks, policy_for, devices, stop_on_success=stop_on_success):
        seen(trajectory)
        outcomes.append(outcome_of(trajectory))
    return outcomes


def evaluation_tasks(
    split: Split,
    families: FamilyChoice | Sequence[FamilyChoice] = CORE_FAMILIES,
    only: str | Sequence[str] = (),
    seed: int = 0,
) -> Iterator[Task]:
    """Yield tasks to evaluate on, without end. `only` restricts them to templates, whatever their
    family; a pattern such as notes.* selects all that match.
    """
    if split not in SPLITS:
        raise UnknownTask(f"no split called {split!r}; there are {', '.join(SPLITS)}")
    if only:
        turns = [_rounds(_known(split, [only] if isinstance(only, str) else only), split, seed)]
    else:
        chosen = [families] if isinstance(families, str) else families
        if unknown := [each for each in chosen if each not in FAMILY_CHOICES]:
            known = ", ".join(FAMILY_CHOICES)
            raise UnknownTask(f"no family called {unknown[0]!r}; there are {known}")
        groups = [template_names(split, family) for family in chosen_families(chosen)]
        turns = [_rounds(names, split, seed) for names in groups if names]
    if not turns:
        raise UnknownTask(f"no templates in the split {split!r} of the families {families!r}")
    while True:
        for turn in turns:
            yield load_task(next(turn))[0]


def _rounds(names: Sequence[str], split: Split, seed: int) -> Iterator[str]:
    """Yield task ids without end: each template once per round, in an order given by the seed."""
    order = random.Random(f"evaluation/{split}/{seed}").sample(names, len(names))
    number = seed * NUMBERS
    while True:
        yield from (f"{name}/{split}/{number}" for name in order)
        number += 1


def _known(split: Split, patterns: Sequence[str]) -> list[str]:
    found = [name for pattern in patterns for name in _matching(split, pattern)]
    return list(dict.fromkeys(found))


def _matching(split: Split, pattern: str) -> list[str]:
    """Return the template of that name, or all whose names match a pattern."""
    if not set(pattern) & set("*?["):
        load_task(f"{pattern}/{split}/0")  # raises with suggestions if there is no such template
        return [pattern]
    if len(pattern) > LONGEST_PATTERN:  # fnmatch takes quadratic time
        raise UnknownTask(f"a pattern of {len(pattern)} characters; {LONGEST_PATTERN} are enough")
    names = [name for family in FAMILIES for name in template_names(split, family)]
    if found := [name for name in names if fnmatchcase(name, pattern)]:
        return found
    raise UnknownTask(f"no template of the split {split!r} matches {pattern!r}; `distrl tasks`")
