"""How many turns a GPU has room for, on a made-up one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from benchmarks.small_world import ANSWERS, REWARDS, STATE_NAMES, VOCABULARY
from benchmarks.tabular_policy import TabularPolicy
from tests.learning.actor_critic_checks import old_episodes

from distrl.agent.trainable_policy import Scores
from distrl.learning.activation_memory import FIRST_TURNS, RECENT, ActivationMemory
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep
from distrl.records import Observation


class MadeUpMemory:
    """Implements `MemoryGauge`; what is used up is not missing."""

    def __init__(self, free: int = 1000) -> None:
        self.used, self.left = 0, free

    def in_use(self) -> int:
        return self.used

    def free(self) -> int:
        return self.left


def measure(memory: ActivationMemory, gauge: MadeUpMemory, turn_bytes: int, turns: int = 8) -> None:
    with memory.measured(turns):
        gauge.used += turns * turn_bytes


def test_as_many_turns_go_at_once_as_fit_into_a_share_of_the_memory() -> None:
    gauge = MadeUpMemory()
    memory = ActivationMemory(gauge)
    assert memory.max_turns(64) == FIRST_TURNS
    assert memory.max_turns(2) == 2
    measure(memory, gauge, 10)
    assert memory.max_turns(64) == 60
    assert memory.max_turns(32) == 32
    gauge.left = 1
    assert memory.max_turns(64) == 1
    memory.forget()
    assert memory.max_turns(64) == FIRST_TURNS
    assert ActivationMemory(None).max_turns(64) == 64


@pytest.mark.parametrize(
    "work", [(1, 1), (1, 2), (2, 3), (2, 4)], ids=["throughout", "ends", "begins", "within"]
)
def test_what_is_measured_beside_the_work_of_another_thread_does_not_count(
    work: tuple[int, int],
) -> None:
    gauge = MadeUpMemory()
    memory = ActivationMemory(gauge)
    counts = iter(work)
    memory.other_work = lambda: next(counts)
    measure(memory, gauge, 500)
    assert memory.max_turns(64) == FIRST_TURNS
    memory.other_work = lambda: 4
    measure(memory, gauge, 10)
    assert memory.max_turns(64) == 60


def test_an_unusual_batch_is_forgotten_after_a_while() -> None:
    gauge = MadeUpMemory()
    memory = ActivationMemory(gauge)
    measure(memory, gauge, 100)
    for _ in range(RECENT):
        assert memory.max_turns(64) == 6
        measure(memory, gauge, 10)
    assert memory.max_turns(64) == 60


def test_what_others_use_beside_it_decides_on_no_second_pass() -> None:
    gauge = MadeUpMemory()
    memory = ActivationMemory(gauge)
    gauge.used = 80 + 500  # of 8 turns, and of another thread
    assert not memory.fits(turns=50, done=8, before=0)
    measure(memory, gauge, 10)
    assert memory.fits(turns=50, done=8, before=0)
    assert not memory.fits(turns=70, done=8, before=0)
    assert ActivationMemory(None).fits(turns=10**9, done=1, before=0)


class MeteredPolicy(TabularPolicy):
    """Takes 10 bytes for the activations of a turn; notes how many turns came at once."""

    def __init__(self, gauge: MadeUpMemory) -> None:
        super().__init__(len(STATE_NAMES), VOCABULARY, ANSWERS)
        self.gauge = gauge
        self.scored: list[int] = []

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        self.scored.append(len(observations))
        self.gauge.used += 10 * len(observations)
        return super().score(observations, answers)


@pytest.mark.parametrize("busy", [False, True], ids=["alone", "beside another thread"])
def test_micro_batches_of_a_step_are_as_large_as_was_measured(busy: bool) -> None:
    gauge = MadeUpMemory(free=200)
    policy, memory = MeteredPolicy(gauge), ActivationMemory(gauge)
    memory.other_work = lambda: int(busy)
    batch = batch_of(old_episodes(), REWARDS)
    _, scored = GradientStep(policy, memory=memory).score_for_step(batch)
    assert scored is None  # 10 bytes for each turn are more than there is
    sizes = [FIRST_TURNS] if busy else [12]
    assert policy.scored[:3] == [FIRST_TURNS, *sizes * 2]
