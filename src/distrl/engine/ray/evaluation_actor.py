"""Evaluations on a Ray cluster: an actor for each, which plays on phones of its own and ends.

The actor reserves no CPU, so that it need not wait for collectors; of a GPU it reserves as much as
a collector does (`engine.collector_gpus`), and waits until that is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError

from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.placement import computing_on
from distrl.engine.run.evaluator import EvaluationRequest, Evaluator, RunningEvaluation
from distrl.engine.run.stop_request import StopRequest
from distrl.errors import EvaluationLost
from distrl.process_environment import ONE_THREAD, WANTED
from distrl.replay.trajectory_encoding import encode_trajectory

if TYPE_CHECKING:
    from torch import Tensor


class RayEvaluation:
    """The actor: one evaluation."""

    def play(
        self,
        config: TrainingConfig,
        request: EvaluationRequest,
        weights: Mapping[str, Tensor] | None,
    ) -> Iterator[bytes]:
        """Yield each trajectory, encoded, as its episode ends."""
        from distrl.engine.wiring import build_policy  # loads torch: imported only when needed

        policy = build_policy(config)
        if weights is not None:
            policy.load_weights(weights, request.version)
        for trajectory in Evaluator(config, policy, StopRequest()).play(request):
            yield encode_trajectory(trajectory)


class RayEvaluationLane:
    """Implements `EvaluationLane` by Ray actors."""

    def __init__(self, config: TrainingConfig) -> None:
        gpus = config.engine.collector_gpus
        self._config = config if gpus else computing_on("cpu", config)
        self._options = {
            "num_cpus": 0,
            "num_gpus": gpus,
            "max_restarts": 0,
            "runtime_env": {"env_vars": {**WANTED, **ONE_THREAD}},
        }

    def start(
        self, request: EvaluationRequest, weights: Mapping[str, Tensor] | None
    ) -> RunningEvaluation:
        remote: Any = ray.remote
        actor = remote(RayEvaluation).options(**self._options).remote()
        playing = actor.play.options(num_returns="streaming").remote(self._config, request, weights)
        return RunningEvaluation(request, _received(playing), lambda: ray.kill(actor))


def evaluation_lane(config: TrainingConfig) -> RayEvaluationLane | None:
    """Return what plays evaluations beside training; None if they alternate with it.

    They alternate in a run that only learns from a corpus, and if a GPU computes the policy and
    collectors have no share of one: a CPU would take too long.
    """
    slow = config.agent.policy.device != "cpu" and not config.engine.collector_gpus
    return None if slow or config.learning.learner.mode == "offline" else RayEvaluationLane(config)


def _received(playing: Any) -> Iterator[bytes]:
    try:
        for each in playing:
            yield ray.get(each)
    except RayError as error:
        raise EvaluationLost(f"the actor that evaluates is gone: {error}") from error
