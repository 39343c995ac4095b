"""Which task next: balanced, seeded, never twice; and what each curriculum prefers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
import torch
from benchmarks.tabular_policy import TabularPolicy
from torch import Tensor

from distrl.errors import CorruptCheckpoint, InvalidSetting, UnknownTask
from distrl.records import Done, Ending, Task
from distrl.task_sets.curriculum import (
    InstructionValueTasks,
    RehearsedTasks,
    RepeatedTasks,
    SuccessRateTasks,
    TaskSource,
    UniformTasks,
)
from distrl.task_sets.task_pool import SimulatedTasks, TaskPool

NAMES = ("clock.set_alarm", "notes.create", "todo.add", "calendar.create")
POOL = SimulatedTasks(NAMES)
torch.set_num_threads(1)


class Critic:
    """Likes instructions by a number that stands in them, or by their length."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor:
        self.asked.append(list(instructions))
        return torch.tensor([self.logit(each) for each in instructions], requires_grad=True)

    def logit(self, instruction: str) -> float:
        return (len(instruction) - 40) / 10


def uniform(pool: TaskPool) -> TaskSource:
    return UniformTasks(pool)


def success_rate(pool: TaskPool) -> TaskSource:
    return SuccessRateTasks(pool)


def instruction_value(pool: TaskPool) -> TaskSource:
    return InstructionValueTasks(pool, Critic())


def rehearsed(pool: TaskPool) -> TaskSource:
    known = SimulatedTasks(("mail.send",), "train", pool.seed, pool.share, pool.shares)
    return RehearsedTasks(SuccessRateTasks(pool), UniformTasks(known), 0.25, f"{pool.seed}")


EVERY: list[Callable[[TaskPool], TaskSource]] = [
    uniform,
    success_rate,
    instruction_value,
    rehearsed,
]


def draw(source: TaskSource, count: int) -> list[Task]:
    """Some tasks; every third attempt succeeds."""
    tasks = []
    for number in range(count):
        tasks.append(source.next_task())
        source.hear(tasks[-1], Ending.SUCCESS if number % 3 == 0 else Ending.FAILURE)
    return tasks


@pytest.mark.parametrize("make", EVERY)
def test_the_same_seed_draws_the_same_and_no_task_comes_twice(
    make: Callable[[TaskPool], TaskSource],
) -> None:
    tasks = draw(make(POOL), 60)
    assert tasks == draw(make(POOL), 60)
    assert len({task.id for task in tasks}) == 60
    assert tasks != draw(make(SimulatedTasks(NAMES, seed=1)), 60)
    assert {task.split for task in tasks} == {"train"}


@pytest.mark.parametrize("make", EVERY)
def test_two_collectors_and_two_seeds_never_draw_the_same_task(
    make: Callable[[TaskPool], TaskSource],
) -> None:
    pools = [SimulatedTasks(NAMES, seed=s, share=n, shares=2) for s in (0, 1) for n in (0, 1)]
    ids = [task.id for pool in pools for task in draw(make(pool), 40)]
    assert len(set(ids)) == 160


@pytest.mark.parametrize("make", EVERY)
def test_a_source_goes_on_from_its_state_as_if_nothing_had_happened(
    make: Callable[[TaskPool], TaskSource],
) -> None:
    one, other = make(POOL), make(POOL)
    draw(one, 17)
    other.load_state(json.loads(json.dumps(one.state())))
    assert draw(one, 25) == draw(other, 25)


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("state", [{}, {"drawn": -1}, {"drawn": "3", "turns": {}, "recent": {}}])
def test_a_state_of_something_else_is_refused(
    make: Callable[[TaskPool], TaskSource], state: dict[str, object]
) -> None:
    with pytest.raises(CorruptCheckpoint, match="take an older checkpoint"):
        make(POOL).load_state(state)


def test_a_state_of_other_templates_is_refused() -> None:
    state = SuccessRateTasks(SimulatedTasks(NAMES[:2])).state()
    with pytest.raises(CorruptCheckpoint, match="other templates"):
        SuccessRateTasks(POOL).load_state(state)


def test_uniform_is_balanced_in_every_round_and_changes_its_order() -> None:
    templates = [task.template for task in draw(UniformTasks(POOL), 40)]
    rounds = [tuple(templates[n : n + 4]) for n in range(0, 40, 4)]
    assert all(sorted(each) == sorted(NAMES) for each in rounds)
    assert len(set(rounds)) > 3


def test_templates_that_succeed_every_other_time_are_preferred_and_all_keep_a_floor() -> None:
    source = SuccessRateTasks(POOL, floor=0.2, memory=20)
    assert set(source.shares().values()) == {0.25}
    example = {task.template: task for task in draw(UniformTasks(POOL), 4)}
    rates = {"clock.set_alarm": 20, "notes.create": 0, "todo.add": 10, "calendar.create": 19}
    for template, successes in rates.items():
        for number in range(20):
            ending = Ending.SUCCESS if number < successes else Ending.FAILURE
            source.hear(example[template], ending)
    # p = (s+1)/22: p(1-p) = 21/484, 21/484, 121/484, 40/484, of 203/484 in all
    expected = [0.05 + 0.8 * part / 203 for part in (21, 21, 121, 40)]
    assert list(source.shares().values()) == pytest.approx(expected)
    drawn = Counter(source.next_task().template for _ in range(2000))
    for template, share in zip(NAMES, expected, strict=True):
        assert drawn[template] / 2000 == pytest.approx(share, abs=0.04)  # 4 standard errors


def test_old_tries_are_forgotten_and_faults_say_nothing_about_a_task() -> None:
    source = SuccessRateTasks(POOL, memory=3)
    task = source.next_task()
    for ending in [Ending.FAILURE] * 9 + [Ending.SUCCESS] * 3:
        source.hear(task, ending)
    after = source.shares()
    for ending in (Ending.DEVICE_LOST, Ending.APP_CRASH, Ending.JUDGE_UNAVAILABLE):
        source.hear(task, ending)
    assert source.shares() == after
    # three successes of three remembered: p = 4/5, 0.16 of 0.16 + 3 · 0.25
    assert after[task.template] == pytest.approx(0.05 + 0.8 * 0.16 / 0.91)


def test_the_candidate_whose_value_is_nearest_one_half_is_taken() -> None:
    critic = Critic()
    source = InstructionValueTasks(POOL, critic, candidates=6, unasked=0.0)
    for _ in range(10):
        task = source.next_task()
        assert len(critic.asked[-1]) == 6
        nearest = min(critic.asked[-1], key=lambda each: abs(critic.logit(each)))
        assert task.instruction == nearest


def test_a_share_of_the_draws_does_not_ask_the_critic() -> None:
    critic = Critic()
    draw(InstructionValueTasks(POOL, critic, unasked=0.3), 400)
    assert 1 - len(critic.asked) / 400 == pytest.approx(0.3, abs=0.09)


def test_a_trainable_policy_is_a_critic() -> None:
    policy = TabularPolicy(1, 2, {(0,): Done()}, tokens_per_answer=1)
    assert InstructionValueTasks(POOL, policy).next_task().template in NAMES


def test_a_share_of_the_tasks_is_rehearsed_and_each_source_hears_of_its_own() -> None:
    source, known = SuccessRateTasks(POOL), SuccessRateTasks(SimulatedTasks(("mail.send",)))
    both = RehearsedTasks(source, known, 0.25, "seed")
    tasks = [both.next_task() for _ in range(1000)]
    share = sum(task.template == "mail.send" for task in tasks) / len(tasks)
    assert share == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / len(tasks)) ** 0.5)
    for task in tasks:
        both.hear(task, Ending.SUCCESS if task.template == "mail.send" else Ending.FAILURE)
    assert set(known.state()["recent"]["mail.send"]) == {1}
    assert not any(1 in last for last in source.state()["recent"].values())


def test_repeated_tasks_come_so_many_times_in_a_row_also_from_a_state() -> None:
    source, other = (RepeatedTasks(UniformTasks(POOL), 3) for _ in range(2))
    ids = [source.next_task().id for _ in range(5)]
    assert ids[0] == ids[1] == ids[2] != ids[3] == ids[4]
    other.load_state(json.loads(json.dumps(source.state())))
    assert other.next_task().id == ids[4]
    assert other.next_task().id not in ids


def test_a_share_out_of_range_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        SimulatedTasks(NAMES, share=2, shares=2)


def test_unknown_templates_are_refused_before_anything_is_played() -> None:
    with pytest.raises(UnknownTask, match="did you mean"):
        SimulatedTasks(("notes.creat",))
    with pytest.raises(UnknownTask, match="without templates"):
        SimulatedTasks(())
