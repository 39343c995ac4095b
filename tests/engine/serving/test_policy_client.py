"""Collectors without a policy: real ones, that ask a server which lives beside them and may die."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import numpy as np
import pytest
from tests.episodes.made_up_collectors import (
    POOL,
    ListSink,
    Patient,
    Versions,
    phones,
    running,
    wait_until,
)

from distrl.engine.serving.policy_client import PolicyClient
from distrl.engine.serving.policy_server import PolicyServer, ServerReport
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings, WeightUpdater
from distrl.errors import PolicyServerGone
from distrl.records import Answer, Decision, Observation, Screen
from distrl.task_sets.curriculum import UniformTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

SCREEN = Screen(np.zeros((2, 2, 3), np.uint8))
SEEN = Observation("wait", SCREEN, ())


class Beside:
    """A line to a server in this process; `cut` is what its death looks like from here."""

    def __init__(self, server: PolicyServer) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._waiting: set[Future[Decision]] = set()
        self.is_cut = False
        self.screens: list[int] = []  # past ones, that came with each question

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        answer: Future[Decision] = Future()
        with self._lock:
            self._check()
            self.screens.append(len(observation.past_screens))
            self._waiting.add(answer)
        self._server.submit(session, observation, partial(self._answer, answer))
        return answer

    def cut(self) -> None:
        with self._lock:
            self.is_cut = True
            waiting = list(self._waiting)
        for answer in waiting:
            self._answer(answer, None)

    def _answer(self, answer: Future[Decision], decision: Decision | None) -> None:
        with self._lock:
            if answer not in self._waiting:
                return
            self._waiting.remove(answer)
        if decision is None:
            answer.set_exception(PolicyServerGone("cut"))
        else:
            answer.set_result(decision)

    def leave(self, session: str) -> None:
        self._check()
        self._server.leave(session)

    def report(self) -> ServerReport:
        self._check()
        return self._server.report()

    def _check(self) -> None:
        if self.is_cut:
            raise PolicyServerGone("cut")


class Failing:
    """A line whose answers are all the same error; `found` is set once a client has it."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.found = threading.Event()

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        answer: Future[Decision] = Future()
        answer.set_exception(self._error)
        return answer

    def leave(self, session: str) -> None: ...

    def report(self) -> None:
        self.found.set()


class Held(Patient):
    """Decides once it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.batches.append(len(observations))
        assert self.free.wait(60.0)
        return [Decision(Answer(each.instruction), weight_version=3) for each in observations]


@contextmanager
def served(policy: Patient, weights: Versions, past_screens: int = 0) -> Iterator[Beside]:
    """A server at work, and the line to it."""
    batcher = PolicyBatcher(policy, PolicyBatcherSettings(), WeightUpdater(policy, weights))
    server = PolicyServer("server-0.1", batcher, past_screens)
    line, going = Beside(server), threading.Event()
    going.set()
    with ThreadPoolExecutor(1) as thread:
        serving = thread.submit(server.serve, going.is_set)
        try:
            yield line
        finally:
            line.cut()
            going.clear()
            serving.result(60.0)


@contextmanager
def tended(client: PolicyClient) -> Iterator[None]:
    """The client's own loop, as a collector runs it."""
    going = threading.Event()
    going.set()
    with ThreadPoolExecutor(1) as thread:
        serving = thread.submit(client.serve, going.is_set)
        try:
            yield
        finally:
            going.clear()
            client.wake()
            serving.result(60.0)


def collector(number: int, line: Beside, sink: ListSink) -> Collector[SimulatedDevice]:
    name = f"collector-{number}.1"
    batcher, source = PolicyClient(name, lambda: line), UniformTasks(POOL)
    return Collector(name, batcher, DevicePool(phones(2)), source, sink, FactJudge)


class Slow(Patient):
    """Says that it could be faster."""

    notice = "slow"


def test_collectors_share_a_server_and_batches_go_beyond_each() -> None:
    sink, policy, weights = ListSink(), Slow(seconds=0.01), Versions()
    with served(policy, weights) as line, ExitStack() as opened:
        collectors = [collector(number, line, sink) for number in range(3)]
        for each in collectors:
            opened.enter_context(running(each))
        wait_until(lambda: len(sink.all) >= 6)
        weights.newest = 3
        wait_until(lambda: sum(each.weight_version == 3 for each in sink.all) >= 6)
        wait_until(lambda: all(each.report().batcher.weight_version == 3 for each in collectors))
        wait_until(lambda: max(policy.batches) > 2)  # a collector has no more phones than that
    assert len({each.id.split("/")[0] for each in sink.all}) == 3
    for trajectory in sink.all:
        versions = [decision.weight_version for decision in trajectory.decisions]
        assert versions == sorted(versions)
    reports = [each.report().batcher for each in collectors]
    assert sum(report.decisions for report in reports) >= sum(
        len(trajectory.decisions) for trajectory in sink.all
    )
    for report in reports:
        assert 1.0 < report.mean_batch <= 6.0
        assert report.notice == "slow"


@pytest.mark.slow
def test_a_server_in_place_of_one_that_died_goes_on_with_its_episodes() -> None:
    sink, lines = ListSink(), list[Beside]()
    batcher = PolicyClient("collector-0.1", lambda: lines[-1] if not lines[-1].is_cut else None)
    player = Collector(
        "collector-0.1", batcher, DevicePool(phones(2)), UniformTasks(POOL), sink, FactJudge
    )
    first, second = Patient(), Patient()
    with ExitStack() as opened:
        lines.append(opened.enter_context(served(first, Versions())))
        opened.enter_context(running(player))
        wait_until(lambda: len(first.batches) > 3)
        lines[0].cut()
        before = len(sink.all)
        lines.append(opened.enter_context(served(second, Versions())))
        wait_until(lambda: len(sink.all) > before + 4)
        player.stop()  # while there is a server: nobody waits for a decision when it goes
        wait_until(lambda: player.report().in_flight == 0)
    assert player.report().started == len(sink.all) + player.report().abandoned
    assert all(each.ending.judged for each in sink.all)  # nothing was called a fault


def test_without_a_server_there_is_an_error_and_no_decision() -> None:
    batcher = PolicyClient("collector-0.1", lambda: None, patience_seconds=0.3)
    with pytest.raises(PolicyServerGone, match=r"collector-0\.1 had no decision .* for 0\.3 s"):
        batcher.ask(batcher.enter(), SEEN)
    sink = ListSink()
    device_pool = DevicePool(phones(2))
    player = Collector("collector-0.1", batcher, device_pool, UniformTasks(POOL), sink, FactJudge)
    with pytest.raises(PolicyServerGone):
        player.run()
    assert sink.sent == []


def test_a_server_that_cannot_be_looked_for_just_now_is_looked_for_again() -> None:
    """As where the head of a cluster is so busy that it does not answer."""
    looks = 0

    with served(Patient(), Versions()) as line:

        def find() -> Beside:
            nonlocal looks
            looks += 1
            if looks < 3:
                raise PolicyServerGone("the head of the cluster did not answer")
            return line

        batcher = PolicyClient("collector-0.1", find)
        assert batcher.ask(batcher.enter(), SEEN).weight_version == 0
    assert looks == 3


def test_who_waits_when_the_client_closes_is_cancelled() -> None:
    batcher = PolicyClient("collector-0.1", lambda: None)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(batcher.ask, batcher.enter(), SEEN)
        batcher.close()
        with pytest.raises(CancelledError):
            waiting.result(60.0)


def test_requests_in_flight_need_no_threads() -> None:
    policy, count = Held(), 600
    with served(policy, Versions()) as line:
        client = PolicyClient("collector-0.1", lambda: line)
        with tended(client):
            wait_until(lambda: client._seen is not None)
            before = threading.active_count()
            asked = [client.submit(client.enter(), saying(number)) for number in range(count)]
            assert threading.active_count() <= before
            assert not any(each.done() for each in asked)
            policy.free.set()
            answers = [each.result(60.0).action for each in asked]
    assert answers == [Answer(str(number)) for number in range(count)]
    assert (client.version, client.report().decisions) == (3, count)


def test_all_that_a_server_has_not_answered_is_sent_to_its_replacement() -> None:
    first, second, lines = Held(), Held(), list[Beside]()
    client = PolicyClient("collector-0.1", lambda: lines[-1] if not lines[-1].is_cut else None)
    with ExitStack() as opened:
        lines.append(opened.enter_context(served(first, Versions())))
        opened.enter_context(tended(client))
        opened.callback(first.free.set)
        wait_until(lambda: client._seen is not None)
        asked = [client.submit(client.enter(), saying(number)) for number in range(20)]
        wait_until(lambda: len(first.batches) == 1)
        lines[0].cut()
        asked += [client.submit(client.enter(), saying(number)) for number in range(20, 30)]
        assert not any(each.done() for each in asked)
        second.free.set()
        lines.append(opened.enter_context(served(second, Versions())))
        answers = [each.result(60.0).action for each in asked]
        first.free.set()  # its answers come too late, and go nowhere
        assert answers == [Answer(str(number)) for number in range(30)]
        assert sum(second.batches) == client.report().decisions == 30


def test_a_request_without_an_answer_in_time_fails_and_its_answer_goes_nowhere() -> None:
    policy = Held()
    with served(policy, Versions()) as line:
        client = PolicyClient("collector-0.1", lambda: line, patience_seconds=0.3)
        with tended(client):
            asked = client.submit(client.enter(), SEEN)
            with pytest.raises(PolicyServerGone, match=r"had no decision .* for 0\.3 s"):
                asked.result(60.0)
            policy.free.set()
            wait_until(lambda: not line._waiting)
    assert client.report().decisions == 0


def test_what_has_expired_is_not_kept_for_a_server_that_never_comes() -> None:
    client = PolicyClient("joined", lambda: None, patience_seconds=0.0)
    with tended(client):
        asked = [client.submit(client.enter(), SEEN) for _ in range(3)]
        assert all(isinstance(each.exception(60.0), PolicyServerGone) for each in asked)
        wait_until(lambda: not client._unsent)


def test_a_request_without_an_answer_says_why_its_last_attempt_failed() -> None:
    line = Failing(PolicyServerGone("503 the learner has ended"))
    client = PolicyClient("collector-0.1", lambda: line, patience_seconds=0.3)
    with tended(client):
        assert line.found.wait(60.0)  # so that the request is sent at once
        with pytest.raises(PolicyServerGone, match=r"last attempt: 503 the learner has ended"):
            client.submit(client.enter(), SEEN).result(60.0)


def test_requests_are_cancelled_when_the_client_closes_and_refused_afterwards() -> None:
    policy = Held()
    with served(policy, Versions()) as line:
        client = PolicyClient("collector-0.1", lambda: line)
        with tended(client):
            wait_until(lambda: client._seen is not None)
            asked = [client.submit(client.enter(), SEEN) for _ in range(3)]
            client.close()
            assert all(each.cancelled() for each in asked)
            assert client.submit(client.enter(), SEEN).cancelled()
            client.open()
            policy.free.set()
            assert client.submit(client.enter(), saying(7)).result(60.0).action == Answer("7")
            wait_until(lambda: not line._waiting)
    assert client.report().decisions == 1


def test_an_error_of_the_policy_itself_is_handed_on() -> None:
    client = PolicyClient("collector-0.1", lambda: Failing(ZeroDivisionError("of the policy")))
    with pytest.raises(ZeroDivisionError, match="of the policy"):
        client.ask(client.enter(), SEEN)


def saying(number: int) -> Observation:
    return Observation(str(number), SCREEN, ())


def test_it_hears_of_new_weights_also_while_nobody_may_play() -> None:
    weights, over = Versions(), threading.Event()
    with served(Patient(), weights) as line, ThreadPoolExecutor(1) as threads:
        batcher = PolicyClient("collector-0.1", lambda: line)
        looking = threads.submit(batcher.serve, lambda: not over.is_set())
        weights.newest = 7
        try:
            wait_until(lambda: batcher.version == 7)
        finally:
            over.set()
        looking.result(60.0)
    assert batcher.report().decisions == 0


@pytest.mark.parametrize(("looked_at", "sent"), [(0, 0), (2, 2), (9, 4)])
def test_screens_that_nobody_looks_at_are_not_sent(looked_at: int, sent: int) -> None:
    with served(Patient(), Versions(), looked_at) as line:
        batcher = PolicyClient("collector-0.1", lambda: line)
        seen = Observation("wait", SCREEN, (), 4 * (SCREEN,))
        batcher.decide([seen])
        turns = iter((True, False))
        batcher.serve(lambda: next(turns))  # a look at the server
        batcher.decide([seen])
    assert line.screens == [4, sent]
