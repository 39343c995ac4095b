"""Policies that a learner's joined collectors can ask: a real one, and some that do not decide."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.listening_learner import ListeningLearner, listening_learner

from distrl.config.training_config import TrainingConfig
from distrl.engine.join.decision_relay import DecisionRelay, Size
from distrl.engine.local.policy_listener import PolicyListener
from distrl.engine.serving.policy_client import ServerLine
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.wiring import build_server, build_weight_store
from distrl.records import Decision, Done, Observation
from distrl.weights.weight_store import WeightPoller

LONG = 300.0


@contextmanager
def policy_process(config: TrainingConfig, run: Path) -> Iterator[None]:
    """The parts of one, in threads of this process."""
    run.mkdir(exist_ok=True)
    weights = WeightPoller(build_weight_store(config, run / "policy-weights"))
    server = build_server(config, "policy-0.1", weights)
    listener, over = PolicyListener(server, run), threading.Event()
    works = (
        listener.listen,
        listener.send_answers,
        partial(server.serve, lambda: not over.is_set()),
    )
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for each in threads:
        each.start()
    with closing(listener):
        yield
        over.set()
    for each in threads:
        each.join(LONG)


class Silent:
    """A policy process that takes requests, and answers none."""

    def __init__(self) -> None:
        self.asked = 0
        self.left: list[str] = []  # sessions that have ended
        self.found = threading.Event()  # set once the relay has a connection to it

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        self.asked += 1
        return Future()

    def leave(self, session: str) -> None:
        self.left.append(session)

    def report(self) -> ServerReport | None:
        self.found.set()
        return None


class Answering(Silent):
    """One that answers all requests once `together` have come, and is full while not `free`."""

    def __init__(self, together: int = 1) -> None:
        super().__init__()
        self.free = threading.Event()
        self.free.set()
        self._together = together
        self._waiting: list[Future[Decision]] = []

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        answer = super().submit(session, observation)
        assert self.free.wait(LONG)
        self._waiting.append(answer)
        if len(self._waiting) == self._together:
            for each in self._waiting:
                each.set_result(Decision(Done()))
            self._waiting = []
        return answer

    def leave(self, session: str) -> None:
        assert self.free.wait(LONG)
        super().leave(session)


def any_screen(_: object) -> None:
    """In place of `ScreenCheck`: a model that takes all."""


@contextmanager
def asked_learner(
    folder: Path, line: ServerLine, check: Callable[[Iterable[Size]], None] = any_screen
) -> Iterator[ListeningLearner]:
    """A learner whose joined collectors are answered by `line`."""
    with (
        DecisionRelay(lambda: line, check) as relay,
        listening_learner(folder, relay=relay) as learner,
    ):
        yield learner


@contextmanager
def silent_learner(folder: Path) -> Iterator[tuple[ListeningLearner, Silent]]:
    silent = Silent()
    with asked_learner(folder, silent) as learner:
        yield learner, silent
