"""Curricula: the sources from which a collector draws its next task.

    UniformTasks            every template equally often
    SuccessRateTasks        prefers templates whose recent success rate is near 1/2
    InstructionValueTasks   prefers tasks whose value by the critic is near 1/2 (DigiRL)
    RehearsedTasks          any of these, mixed with a share of tasks that the model already knows
    RepeatedTasks           any of these, each task several times (for GRPO)

All are deterministic functions of a seed and of the endings passed to `hear`. They draw from a pool
(`task_pool`) that repeats no task id while it has others; two collectors with different shares of
one pool never draw the same task. `state` is plain JSON, and `load_state` resumes from it exactly.
Not thread-safe: `EpisodeScheduler` calls it under the collector's lock.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from distrl.errors import CorruptCheckpoint
from distrl.records import Ending, Task
from distrl.task_sets.task_pool import TaskPool

if TYPE_CHECKING:
    from torch import Tensor

State = dict[str, Any]  # plain JSON


class TaskSource(Protocol):
    """Chooses the next task; `hear` is called with the ending of every attempt."""

    def next_task(self) -> Task: ...

    def hear(self, task: Task, ending: Ending) -> None: ...

    def find(self, task_id: str) -> Task:
        """Return the task of that id, on resume; raise `UnknownTask` if the source has none."""
        ...

    def state(self) -> State: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


class InstructionCritic(Protocol):
    """Predicts success from the instruction alone; every `TrainablePolicy` does."""

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor: ...  # [n]


class UniformTasks:
    """Draws each template once per round, in a new random order each round."""

    def __init__(self, pool: TaskPool) -> None:
        self._pool = pool
        self._drawn = 0

    def next_task(self) -> Task:
        turn, place = divmod(self._drawn, len(self._pool.templates))
        order = self._pool.rng(turn).sample(self._pool.templates, len(self._pool.templates))
        self._drawn += 1
        return self._pool.task(order[place], turn)

    def hear(self, task: Task, ending: Ending) -> None:
        """Do nothing: endings do not affect the order."""

    def find(self, task_id: str) -> Task:
        return self._pool.find(task_id)

    def state(self) -> State:
        return {"drawn": self._drawn}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._drawn = _count(state, "drawn")


class SuccessRateTasks:
    """Prefers templates whose recent success rate is near 1/2; each has at least `floor` / n.

        share = floor / n + (1 − floor) · p(1 − p) / Σ p(1 − p),   p = (successes + 1) / (tries + 2)

    for n templates, over the last `memory` judged attempts of each. Without attempts p = 1/2.
    """

    def __init__(self, pool: TaskPool, floor: float = 0.2, memory: int = 20) -> None:
        self._pool = pool
        self._floor = floor
        self._drawn = 0
        self._turns = dict.fromkeys(pool.templates, 0)
        self._recent = {name: deque[bool](maxlen=memory) for name in pool.templates}

    def next_task(self) -> Task:
        shares = self.shares()
        [template] = self._pool.rng(self._drawn).choices(list(shares), list(shares.values()))
        turn = self._turns[template]
        self._drawn += 1
        self._turns[template] += 1
        return self._pool.task(template, turn)

    def shares(self) -> dict[str, float]:
        """Return the probability of each template to be drawn next."""
        rates = {name: (sum(last) + 1) / (len(last) + 2) for name, last in self._recent.items()}
        total = sum(rate * (1 - rate) for rate in rates.values())
        return {
            name: self._floor / len(rates) + (1 - self._floor) * rate * (1 - rate) / total
            for name, rate in rates.items()
        }

    def hear(self, task: Task, ending: Ending) -> None:
        """Record the result of a judged attempt; a fault says nothing about a task."""
        if ending.judged and task.template in self._recent:
            self._recent[task.template].append(ending is Ending.SUCCESS)

    def find(self, task_id: str) -> Task:
        return self._pool.find(task_id)

    def state(self) -> State:
        recent = {name: [int(each) for each in last] for name, last in self._recent.items()}
        return {"drawn": self._drawn, "turns": dict(self._turns), "recent": recent}

    def load_state(self, state: Mapping[str, Any]) -> None:
        drawn, turns = _count(state, "drawn"), _table(state, "turns")
        recent = _table(state, "recent")
        if not set(turns) == set(recent) == set(self._turns):
            strange = sorted(set(turns) ^ set(self._turns)) or sorted(set(recent) ^ set(turns))
            raise CorruptCheckpoint(
                f"the curriculum's state is of other templates ({', '.join(strange[:3])}, …); "
                "resume with the templates that it was begun with"
            )
        self._drawn = drawn
        self._turns = {name: _count(turns, name) for name in self._turns}
        for name, last in self._recent.items():
            last.clear()
            last.extend(bool(each) for each in recent[name])


class InstructionValueTasks:
    """Draws candidates uniformly and takes the one whose value by the critic is nearest 1/2.

    A share `unasked` of the draws ignores the critic: otherwise a template about which the critic
    is wrong might never be drawn again. `policy_lock` is held while the critic computes: pass that
    of the `PolicyBatcher` if both use the same policy.
    """

    def __init__(
        self,
        pool: TaskPool,
        critic: InstructionCritic,
        policy_lock: AbstractContextManager[object] | None = None,
        candidates: int = 8,
        unasked: float = 0.1,
    ) -> None:
        self._pool = pool
        self._critic = critic
        self._policy_lock = policy_lock or threading.Lock()
        self._candidates = candidates
        self._unasked = unasked
        self._uniform = UniformTasks(pool)
        self._drawn = 0

    def next_task(self) -> Task:
        rng = random.Random(f"unasked/{self._pool.seed}/{self._pool.share}/{self._drawn}")
        self._drawn += 1
        if rng.random() < self._unasked:
            return self._uniform.next_task()
        candidates = [self._uniform.next_task() for _ in range(self._candidates)]
        with self._policy_lock:
            logits = self._critic.instruction_logits([task.instruction for task in candidates])
            distances = logits.detach().abs().tolist()  # a value of 1/2 is a logit of 0
        return candidates[distances.index(min(distances))]

    def hear(self, task: Task, ending: Ending) -> None:
        """Do nothing: the critic learns from the trajectory."""

    def find(self, task_id: str) -> Task:
        return self._pool.find(task_id)

    def state(self) -> State:
        return {"drawn": self._drawn, "uniform": self._uniform.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._uniform.load_state(_table(state, "uniform"))
        self._drawn = _count(state, "drawn")


class RehearsedTasks:
    """Tasks of one source, mixed with a share of tasks that the model already knows."""

    def __init__(self, source: TaskSource, known: TaskSource, share: float, seed: str) -> None:
        self._source = source
        self._known = known
        self._share = share
        self._seed = seed
        self._drawn = 0

    def next_task(self) -> Task:
        known = random.Random(f"rehearsal/{self._seed}/{self._drawn}").random() < self._share
        self._drawn += 1
        return (self._known if known else self._source).next_task()

    def hear(self, task: Task, ending: Ending) -> None:
        """Pass it to both sources: their templates differ, and each ignores those of the other."""
        self._source.hear(task, ending)
        self._known.hear(task, ending)

    def find(self, task_id: str) -> Task:
        return self._source.find(task_id)

    def state(self) -> State:
        return {
            "drawn": self._drawn, "source": self._source.state(), "known": self._known.state(),
        }  # fmt: skip

    def load_state(self, state: Mapping[str, Any]) -> None:
        drawn, known = _count(state, "drawn"), _table(state, "known")
        self._source.load_state(_table(state, "source"))
        self._known.load_state(known)
        self._drawn = drawn


class RepeatedTasks:
    """Draws each task of a source `times` times in a row, for algorithms that compare attempts."""

    def __init__(self, source: TaskSource, times: int) -> None:
        self._source = source
        self._times = times
        self._task: Task | None = None
        self._left = 0

    def next_task(self) -> Task:
        if self._task is None or not self._left:
            self._task, self._left = self._source.next_task(), self._times
        self._left -= 1
        return self._task

    def hear(self, task: Task, ending: Ending) -> None:
        self._source.hear(task, ending)

    def find(self, task_id: str) -> Task:
        return self._source.find(task_id)

    def state(self) -> State:
        task = self._task.id if self._task else None
        return {"source": self._source.state(), "task": task, "left": self._left}

    def load_state(self, state: Mapping[str, Any]) -> None:
        left, task = _count(state, "left"), state.get("task")
        self._source.load_state(_table(state, "source"))
        self._task = None if task is None else self._source.find(str(task))
        self._left = left


def _count(state: Mapping[str, Any], name: str) -> int:
    value = state.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _strange(name, value, "a count")
    return value


def _table(state: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = state.get(name)
    if not isinstance(value, Mapping):
        raise _strange(name, value, "a table")
    return value


def _strange(name: str, value: object, wanted: str) -> CorruptCheckpoint:
    return CorruptCheckpoint(
        f"the curriculum's state has {name}={value!r}, not {wanted}; it is of another "
        "curriculum, or damaged: take an older checkpoint"
    )
