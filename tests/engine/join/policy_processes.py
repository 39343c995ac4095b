"""Policies that a learner's joined collectors can ask: a real one, and one that never answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.listening_learner import ListeningLearner, listening_learner

from distrl.config.training_config import TrainingConfig
from distrl.engine.join.decision_relay import DecisionRelay
from distrl.engine.local.policy_listener import PolicyListener
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.wiring import build_server, build_weight_store
from distrl.records import Decision, Observation
from distrl.weights.weight_store import WeightPoller

LONG = 300.0


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.02)


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

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        self.asked += 1
        return Future()

    def leave(self, session: str) -> None: ...

    def report(self) -> ServerReport | None:
        return None


@contextmanager
def silent_learner(folder: Path) -> Iterator[tuple[ListeningLearner, Silent]]:
    silent = Silent()
    with (
        DecisionRelay(lambda: silent) as relay,
        listening_learner(folder, relay=relay) as learner,
    ):
        yield learner, silent
