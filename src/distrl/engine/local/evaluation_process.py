"""Evaluations in a process of their own, forked by multiprocessing's forkserver.

The process has its own policy and its own devices, plays one evaluation and ends. It
yields the CPU to the processes that train (`NICENESS`), dies with the learner, and writes to
`logs/evaluation.log`. Its trajectories come back over a pipe, encoded as for the store.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from distrl.agent.torch_device import use_threads
from distrl.config.training_config import load_config
from distrl.engine.local.process_lifetime import Surroundings, set_up_process, work_in
from distrl.engine.run.evaluator import EvaluationRequest, Evaluator, RunningEvaluation
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.wiring import build_policy
from distrl.errors import EvaluationLost
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_file import read_weights, write_weights

if TYPE_CHECKING:
    from torch import Tensor

NICENESS = 10
NAME = "evaluation"
END_SECONDS = 5.0  # for the process to end after it was killed


class EvaluationProcesses:
    """Implements `EvaluationLane`: a new process for each evaluation of a run."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._context = multiprocessing.get_context("forkserver")

    def start(
        self, request: EvaluationRequest, weights: Mapping[str, Tensor] | None
    ) -> RunningEvaluation:
        log = self._run.path / "logs" / f"{NAME}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        file, digest = None, ""
        if weights is not None:
            file = self._run.path / f".{NAME}-{request.version}.safetensors"
            file.unlink(missing_ok=True)  # of a learner that was killed
            try:
                digest = write_weights(file, weights, {"version": str(request.version)})
            except OSError:
                file.unlink(missing_ok=True)
                raise
        ours, theirs = self._context.Pipe(duplex=False)
        with theirs:
            arguments = (theirs, self._run.path, request, file, digest)
            process = self._context.Process(
                target=work_in, args=(Surroundings.here(), evaluate, *arguments), daemon=True
            )
            process.start()

        def end() -> None:
            if file is not None:
                file.unlink(missing_ok=True)
            with suppress(ValueError):  # already closed, or it has not ended yet
                process.kill()
                process.join(END_SECONDS)
                process.close()  # closes its pipes now; garbage collection would do it much later

        return RunningEvaluation(request, _received(ours, log), end)


def _received(pipe: Connection, log: Path) -> Iterator[bytes]:
    """Yield encoded trajectories as they come; raise `EvaluationLost` if they break off."""
    with pipe:
        try:
            while encoded := pipe.recv_bytes():  # empty: there are no more
                yield encoded
        except (EOFError, OSError) as error:
            raise EvaluationLost(
                f"the process that evaluates has ended before the last episode; {log} says why"
            ) from error


def evaluate(
    pipe: Connection, path: Path, request: EvaluationRequest, weights: Path | None, digest: str
) -> None:
    """Run the evaluation process from start to end."""
    run = RunDirectory(path)
    set_up_process(NAME, path / "logs" / f"{NAME}.log")
    os.nice(NICENESS)
    config = load_config(run.config)
    use_threads(config.collection.threads)
    policy = build_policy(config)
    if weights is not None:
        policy.load_weights(read_weights(weights, digest, "pt"), request.version)
    for trajectory in Evaluator(config, policy, StopRequest()).play(request):
        pipe.send_bytes(encode_trajectory(trajectory))
    pipe.send_bytes(b"")
    logging.shutdown()
