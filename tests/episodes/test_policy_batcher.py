"""One policy for many devices: batches, waiting for fuller ones, weight swaps, closing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from tests.episodes.made_up_collectors import (
    ListSink,
    ManualClock,
    Patient,
    Versions,
    collector,
    wait_until,
)

from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings, WeightUpdater
from distrl.errors import InvalidSetting
from distrl.records import Decision, Observation, Screen, Wait
from phonesim.simulated_device import SimulatedDevice

SCREEN = Screen(np.zeros((2, 2, 3), np.uint8))


def seen(number: int) -> Observation:
    return Observation(str(number), SCREEN, ())


class Echo:
    """Says back what it was asked; may be made to wait before it answers."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.go_on.set()
        self.asked: list[list[str]] = []

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.asked.append([each.instruction for each in observations])
        assert self.go_on.wait(60.0)
        return [Decision(Wait(), each.instruction) for each in observations]


@contextmanager
def served(batcher: PolicyBatcher) -> Iterator[ThreadPoolExecutor]:
    """Serve in a thread, with a pool of threads to ask from."""
    going = threading.Event()
    going.set()
    with ThreadPoolExecutor(40) as threads:
        serving = threads.submit(batcher.serve, going.is_set)
        try:
            yield threads
        finally:
            going.clear()
            batcher.wake()
            serving.result(60.0)
            batcher.close()


def ask(batcher: PolicyBatcher, number: int) -> Decision:
    handle = batcher.enter()
    try:
        return batcher.ask(handle, seen(number))
    finally:
        batcher.leave(handle)


def test_everybody_gets_the_answer_to_his_own_question_and_nothing_is_decided_twice() -> None:
    policy = Echo()
    batcher = PolicyBatcher(policy)
    with served(batcher) as threads:
        answers = list(threads.map(lambda number: ask(batcher, number), range(300)))
    assert [answer.text for answer in answers] == [str(number) for number in range(300)]
    asked = [each for batch in policy.asked for each in batch]
    assert sorted(asked, key=int) == [str(number) for number in range(300)]
    assert batcher.report().decisions == 300


def test_who_comes_while_the_policy_works_is_answered_together_oldest_first() -> None:
    policy = Echo()
    policy.go_on.clear()
    batcher = PolicyBatcher(policy, PolicyBatcherSettings(most=5))
    with served(batcher) as threads:
        waiting = [threads.submit(ask, batcher, 0)]
        wait_until(lambda: len(policy.asked) == 1)
        for number in range(1, 8):
            waiting.append(threads.submit(ask, batcher, number))
            wait_until(lambda number=number: batcher.waiting == number)  # type: ignore[misc]
        policy.go_on.set()
        assert [each.result(60.0).text for each in waiting] == [str(n) for n in range(8)]
    assert policy.asked == [["0"], ["1", "2", "3", "4", "5"], ["6", "7"]]
    assert batcher.report().batches == {1: 1, 2: 1, 5: 1}
    assert batcher.report().mean_batch == pytest.approx(8 / 3)


class Lingering:
    """A batcher with two episodes whose last batch took `policy_seconds`, by a manual clock."""

    def __init__(self, max_wait: float, policy_seconds: float) -> None:
        self.clock = ManualClock()
        self.policy = Patient(compute=lambda size: self.clock.advance(policy_seconds))
        settings = PolicyBatcherSettings(max_wait_seconds=max_wait)
        self.batcher = PolicyBatcher(self.policy, settings, clock=self.clock)
        self.handles = [self.batcher.enter(), self.batcher.enter()]

    def pass_time(self, seconds: float) -> None:
        """Advance the clock, and wait until the batcher has seen it."""
        self.clock.advance(seconds)
        seen = self.clock.reads
        self.batcher.wake()
        wait_until(lambda: self.clock.reads > seen)

    def first_asks(self, threads: ThreadPoolExecutor) -> Future[Decision]:
        """Returns once the batcher has the request and waits for the other episode."""
        self.batcher.ask(self.handles[0], seen(0))  # so that it knows how long a batch takes
        reads = self.clock.reads
        asked = threads.submit(self.batcher.ask, self.handles[0], seen(0))
        wait_until(lambda: self.clock.reads >= reads + 2)  # the deadline, and what is left
        return asked


def test_it_waits_for_a_fuller_batch() -> None:
    made = Lingering(max_wait=5.0, policy_seconds=1.0)
    with served(made.batcher) as threads:
        first = made.first_asks(threads)
        made.pass_time(0.2)
        second = threads.submit(made.batcher.ask, made.handles[1], seen(1))
        first.result(60.0)
        second.result(60.0)
    assert made.policy.batches[1:] == [2]


def test_it_does_not_wait_longer_than_the_setting() -> None:
    made = Lingering(max_wait=0.0, policy_seconds=0.1)
    with served(made.batcher) as threads:
        made.batcher.ask(made.handles[0], seen(0))
        threads.submit(made.batcher.ask, made.handles[0], seen(0)).result(60.0)
        threads.submit(made.batcher.ask, made.handles[1], seen(1)).result(60.0)
    assert made.policy.batches == [1, 1, 1]
    made = Lingering(max_wait=0.25, policy_seconds=1.0)
    with served(made.batcher) as threads:
        first = made.first_asks(threads)
        made.pass_time(0.24)
        assert not first.done()
        made.pass_time(0.02)
        first.result(60.0)
    assert made.policy.batches == [1, 1]


def test_it_does_not_wait_longer_than_a_batch_takes() -> None:
    made = Lingering(max_wait=5.0, policy_seconds=0.01)
    with served(made.batcher) as threads:
        first = made.first_asks(threads)
        made.pass_time(0.009)
        assert not first.done()
        made.pass_time(0.002)
        first.result(60.0)
    assert made.policy.batches == [1, 1]


def test_it_does_not_wait_when_all_who_could_ask_have_asked() -> None:
    clock = ManualClock()
    policy = Patient(compute=lambda size: clock.advance(0.5))
    settings = PolicyBatcherSettings(max_wait_seconds=60.0)
    batcher = PolicyBatcher(policy, settings, clock=clock)
    with served(batcher) as threads:
        handle = batcher.enter()
        batcher.ask(handle, seen(0))
        # While it waited for more, the clock would stand still, and it would wait for ever.
        threads.submit(batcher.ask, handle, seen(0)).result(60.0)
    assert clock.now == 1.0


def test_a_policy_hears_what_it_will_be_asked_while_it_still_decides() -> None:
    heard: list[str] = []

    class Hearing(Echo):
        def expect(self, observation: Observation) -> None:
            heard.append(observation.instruction)

    policy = Hearing()
    batcher = PolicyBatcher(policy)
    with served(batcher) as threads:
        policy.go_on.clear()
        first = threads.submit(ask, batcher, 0)
        wait_until(lambda: policy.asked == [["0"]])
        second = threads.submit(ask, batcher, 1)
        wait_until(lambda: heard == ["0", "1"])
        assert policy.asked == [["0"]]
        policy.go_on.set()
        assert [each.result(60.0).text for each in (first, second)] == ["0", "1"]
    batcher.close()
    batcher.submit(batcher.enter(), seen(2))  # it is refused
    assert heard == ["0", "1"]


def test_whoever_waits_when_it_closes_is_told_so() -> None:
    batcher = PolicyBatcher(Echo())
    with ThreadPoolExecutor(1) as threads:
        waiting: Future[Decision] = threads.submit(ask, batcher, 0)
        wait_until(lambda: batcher.waiting == 1)
        batcher.close()
        with pytest.raises(CancelledError):
            waiting.result(60.0)
    with pytest.raises(CancelledError, match="has closed"):
        ask(batcher, 1)
    batcher.open()
    with served(batcher):
        assert ask(batcher, 2).text == "2"


def test_what_the_policy_raises_comes_out_of_serve_and_frees_who_waits() -> None:
    class Broken:
        def decide(self, observations: Sequence[Observation]) -> list[Decision]:
            raise ZeroDivisionError

    batcher = PolicyBatcher(Broken())
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask, batcher, 0)
        with pytest.raises(ZeroDivisionError):
            batcher.serve(lambda: True)
        batcher.close()
        with pytest.raises(CancelledError):
            waiting.result(60.0)


def test_it_is_a_policy_itself_and_keeps_to_its_batch() -> None:
    policy = Echo()
    batcher = PolicyBatcher(policy, PolicyBatcherSettings(most=3))
    assert [each.text for each in batcher.decide([seen(n) for n in range(7)])] == list("0123456")
    assert [len(batch) for batch in policy.asked] == [3, 3, 1]
    assert batcher.decide([]) == []


# Weights -----------------------------------------------------------------------------------------


def renewing(swap: str) -> tuple[PolicyBatcher, Patient, Versions]:
    policy, versions = Patient(), Versions()
    settings = PolicyBatcherSettings(swap=swap)  # type: ignore[arg-type]
    return PolicyBatcher(policy, settings, WeightUpdater(policy, versions)), policy, versions


def test_between_decisions_new_weights_decide_at_once() -> None:
    batcher, policy, versions = renewing("between_decisions")
    with served(batcher):
        handle = batcher.enter()
        assert batcher.ask(handle, seen(0)).weight_version == 0
        versions.newest = 2
        wait_until(lambda: batcher.version == 2)  # also while nobody asks
        assert batcher.ask(handle, seen(0)).weight_version == 2
    assert policy.loaded == [2]


def test_between_episodes_who_has_begun_goes_on_and_who_has_not_waits_for_the_swap() -> None:
    batcher, policy, versions = renewing("between_episodes")
    with served(batcher) as threads:
        old, new = batcher.enter(), batcher.enter()
        batcher.ask(old, seen(0))
        versions.newest = 1
        wait_until(lambda: versions.given == [1])
        first = threads.submit(batcher.ask, new, seen(1))
        for _ in range(3):
            assert batcher.ask(old, seen(0)).weight_version == 0
        assert not first.done()
        versions.newest = 3  # whoever waits for so long gets the newest
        batcher.leave(old)
        assert first.result(60.0).weight_version == 3
    assert policy.loaded == [3]
    assert batcher.report().swaps == 1


def test_the_version_of_a_policy_that_others_renew_is_read_off_its_decisions() -> None:
    policy = Patient()
    batcher = PolicyBatcher(policy)
    assert batcher.version == 0
    policy.load_weights({}, 6)  # as a server does
    batcher.decide([seen(0)])
    assert batcher.version == batcher.report().weight_version == 6


@pytest.mark.parametrize(
    "make",
    [
        lambda: PolicyBatcherSettings(most=0),
        lambda: PolicyBatcherSettings(max_wait_seconds=-1.0),
        lambda: PolicyBatcherSettings(max_wait_seconds=float("nan")),
        lambda: PolicyBatcherSettings(swap="sometimes"),  # type: ignore[arg-type]
    ],
)
def test_settings_out_of_range_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidSetting):
        make()


class FailsAhead(Patient):
    """Its inputs cannot be made before they are asked for."""

    def __init__(self) -> None:
        super().__init__(waits=0)
        self.told = 0

    def expect(self, observation: Observation) -> None:
        self.told += 1
        raise RuntimeError(f"no pinned memory for {observation.instruction!r}")


def test_a_hint_that_fails_costs_no_decision_and_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy, sink = FailsAhead(), ListSink()
    collector(PolicyBatcher(policy), sink, [SimulatedDevice("phone-0")]).run(2)
    assert (len(sink.sent), policy.told) == (2, 1)
    [record] = [each for each in caplog.records if each.levelname == "WARNING"]
    assert "not ahead: no pinned memory" in record.getMessage()
