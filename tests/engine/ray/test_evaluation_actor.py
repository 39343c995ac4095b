"""An evaluation by an actor of a real cluster, and what becomes of one that is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray")

from tests.engine.ray.small_cluster import SmallCluster, kill
from tests.engine.tiny_runs import tiny_config

from distrl.engine.ray.evaluation_actor import evaluation_lane
from distrl.engine.run.evaluator import EvaluationRequest, Evaluator
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.wiring import build_policy
from distrl.errors import EvaluationLost

SECONDS = 120.0  # on a slow machine


def test_a_gpu_policy_without_a_share_for_collectors_is_evaluated_in_turns(tmp_path: Path) -> None:
    on_gpu = "agent.policy.device=cuda"
    assert evaluation_lane(tiny_config(tmp_path, tmp_path, on_gpu)) is None
    assert evaluation_lane(tiny_config(tmp_path, tmp_path, on_gpu, "engine.collector_gpus=0.5"))
    assert evaluation_lane(tiny_config(tmp_path, tmp_path))


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_actor_plays_with_the_weights_that_it_was_given(
    cluster: SmallCluster, tmp_path: Path, model: Path
) -> None:
    config = tiny_config(tmp_path, model)
    lane, policy = evaluation_lane(config), build_policy(config)
    assert lane is not None
    weights = {name: 1.5 * each for name, each in policy.weights().items()}
    request = EvaluationRequest("during", 2, updates=3, version=7, seconds=1.5)
    running = lane.start(request, weights)
    assert running.finished(SECONDS)
    policy.load_weights(weights, 7)
    here = list(Evaluator(config, policy, StopRequest()).play(request))
    assert [each.decisions for each in running.trajectories] == [each.decisions for each in here]
    lost = lane.start(EvaluationRequest("before", 9**6, 0, 0, 0.0), None)
    while not (pids := cluster.pids("RayEvaluation")):
        assert not lost.finished(0.1)
    kill(pids[0])
    with pytest.raises(EvaluationLost, match="actor"):
        lost.finished(SECONDS)
