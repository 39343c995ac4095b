"""Score a step of an episode under other weights of its run, on request.

A child process loads the run's policy, on the CPU and with a low priority, and answers one question
at a time: the greedy answer of those weights on that screen, the critic's value, and the
probability of each token that was sampled then, beside its likeliest alternatives. Storing these
for every step of every version would cost more than the run itself. While the run trains, the first
answer may take longer than `ANSWER_SECONDS`: the process goes on, so that a retry is answered. It
ends after `IDLE_SECONDS` without a question, and with its parent.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distrl.episodes.live_feed import described
from distrl.errors import DistrlError, ProcessError
from distrl.records import Observation, Trajectory
from distrl.reporting.recording import describe
from distrl.runs.run_directory import RunDirectory
from distrl.view.kept_weights import RunPolicy
from distrl.view.xray import EpisodeFiles, token_pieces

if TYPE_CHECKING:  # it loads torch
    from distrl.agent.vlm_policy import VlmPolicy

ALTERNATIVES = 5  # at each token
ANSWER_SECONDS = 120.0  # the first answer loads torch and the model
HUNG_SECONDS = 900.0  # without any answer, after which the process is ended
IDLE_SECONDS = 300.0
NICE = 10  # in all: a child of the server inherits that already
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """A request to score one step under one set of weights of a run."""

    run: Path
    key: str  # of `KeptWeights`
    seq: int
    step: int


class StepScorer:
    """Sends questions to the process, and starts it when needed. Thread-safe: one at a time."""

    def __init__(
        self, patience: float = ANSWER_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._unanswered = 0  # questions sent and not answered yet
        self._heard = 0.0  # when the process last answered, or was started

    def ask(self, question: StepQuestion) -> dict[str, Any]:
        """Score a step; raise `LookupError` if there is no such step or its weights are gone."""
        with self._lock:
            connection = self._running()
            try:
                connection.send(question)
                self._unanswered += 1
                found, problem, answer = self._answer(connection)
            except (EOFError, OSError) as error:
                self._end()
                raise ProcessError(
                    "the process that asks the weights has died, of too little memory perhaps"
                ) from error
        if not found:
            raise LookupError(problem)
        if problem:
            raise ProcessError(problem)
        return dict(answer)

    def close(self) -> None:
        with self._lock:
            self._end()

    def _answer(self, connection: Connection) -> tuple[bool, str, dict[str, Any]]:
        """Wait for the answer to the last question; skip those to earlier ones that timed out."""
        until = self._clock() + self._patience
        while connection.poll(max(0.0, until - self._clock())):
            answer: tuple[bool, str, dict[str, Any]] = connection.recv()
            self._heard = self._clock()
            self._unanswered -= 1
            if not self._unanswered:
                return answer
        if self._clock() - self._heard > HUNG_SECONDS:
            self._end()
            raise ProcessError(
                f"the process that asks the weights has not answered for {HUNG_SECONDS / 60:.0f} "
                "minutes and was ended; ask again to start another"
            )
        raise ProcessError(
            f"no answer within {self._patience:.0f} s, since the machine is busy; it is being "
            "computed: ask again in a while"
        )

    def _running(self) -> Connection:
        if self._process is not None and self._process.is_alive() and self._connection is not None:
            return self._connection
        self._end()
        ours, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=answer_questions, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._connection = ours
        self._unanswered, self._heard = 0, self._clock()
        return ours

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.terminate()
            self._process.join()
        self._connection = self._process = None


def answer_questions(asked: Connection) -> None:
    """Run in the process: send (found, problem, answer) for each question until idle."""
    os.nice(max(0, NICE - os.nice(0)))
    opened: dict[Path, RunPolicy] = {}
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while asked.poll(IDLE_SECONDS):
            question: StepQuestion = asked.recv()
            try:
                if question.run not in opened:
                    opened.clear()  # keep one model in memory
                    opened[question.run] = RunPolicy(RunDirectory(question.run))
                asked.send((True, "", score_step(opened[question.run], question)))
            except LookupError as error:
                asked.send((False, str(error.args[0] if error.args else error), {}))
            except (DistrlError, OSError, MemoryError, ValueError) as error:
                log.warning("step %s: %s", question, error)
                asked.send((True, f"{type(error).__name__}: {error}", {}))


def score_step(opened: RunPolicy, question: StepQuestion) -> dict[str, Any]:
    """Score the step under the weights that the question names, as plain values."""
    trajectory = EpisodeFiles(opened.run).trajectory(question.seq)
    if not 0 <= question.step < len(trajectory.decisions):
        raise LookupError(f"episode {question.seq} has {len(trajectory.decisions)} steps")
    policy, pieces = opened.hold(question.key), token_pieces(opened.run)
    observation = seen_before(trajectory, question.step)
    drawn = trajectory.decisions[question.step].token_ids
    before = policy.sampling
    policy.sampling = dataclasses.replace(before, greedy=True)
    [likeliest] = policy.decide([observation])
    policy.sampling = before
    return {
        "key": question.key,
        "version": policy.weight_version,
        "answer": likeliest.text,
        "action": described(likeliest.action),
        "words": describe(likeliest.action),
        "same": bool(drawn) and likeliest.token_ids == drawn,
        "value": _value(policy, observation),
        "tokens": [
            [pieces(token), _probability(own), [[pieces(t), _probability(p)] for t, p in others]]
            for token, (own, others) in zip(drawn, _tokens(policy, observation, drawn), strict=True)
        ],
    }


def seen_before(trajectory: Trajectory, step: int) -> Observation:
    """Return the observation on which the policy decided that step."""
    actions = tuple(each.action for each in trajectory.decisions[:step])
    screens = trajectory.screens
    return Observation(trajectory.task.instruction, screens[step], actions, screens[:step])


def _tokens(
    policy: VlmPolicy, observation: Observation, drawn: tuple[int, ...]
) -> list[tuple[float, list[tuple[int, float]]]]:
    """Return each token's log-probability and alternatives; empty if a script answered."""
    return policy.alternatives(observation, drawn, ALTERNATIVES) if drawn else []


def _value(policy: VlmPolicy, observation: Observation) -> float:
    from distrl.learning.losses.averages import minimum_of_heads

    logits = policy.value_logits([observation]).detach()
    return float(minimum_of_heads(logits.sigmoid())[0])


def _probability(log_prob: float) -> float:
    return round(math.exp(min(0.0, log_prob)), 5)
