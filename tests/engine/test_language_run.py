"""A language model in the circle: elements from the phone to the gradient, in one process."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from tests.agent.tiny_models import tiny_model
from tests.engine.tiny_runs import tiny_config

from distrl.agent.loading import load_policy, sees_elements, what_it_sees
from distrl.engine.local.local_engine import LocalEngine
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory


def test_collectors_read_elements_where_the_model_does(tmp_path: Path) -> None:
    for model, words, reads in (
        ("llama", (), True),
        ("smolvlm", (), False),
        ("smolvlm", ("agent.sees=both",), True),
        ("llama", ("agent.sees=both",), True),
    ):
        config = tiny_config(tmp_path, tiny_model(model), *words)
        agent = config.agent
        assert sees_elements(agent.model, None, agent.chosen_sees) is reads


@pytest.mark.slow
@pytest.mark.parametrize("sees", ["elements", "both"])
@pytest.mark.parametrize("adapted", [False, True], ids=["whole", "adapters"])
def test_a_language_model_is_trained_by_reward_and_exported(
    tmp_path: Path, adapted: bool, sees: str
) -> None:
    words = ["collection.mode=one_process", "run.updates=2", "agent.policy.past_actions=2"]
    words += ["agent.policy.lora.rank=4"] if adapted else []
    words += ["evaluation.before=0", "evaluation.after=1", f"agent.sees={sees}"]
    config = tiny_config(tmp_path, tiny_model("llama"), *words)
    run = RunDirectory.new(tmp_path / "runs", "words", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    LocalEngine(config, run, Console(quiet=True)).train()
    stored = [each.trajectory for each in TrajectoryReader(run.trajectories).read()]
    assert stored
    assert all(each.elements and each.elements[0] for each in stored)
    figures = [point.figures.get("watch/logprob_gap") for point in read_points(run.metrics)]
    gaps = [gap for gap in figures if gap is not None]
    assert gaps
    assert max(gaps) < 1e-4
    assert what_it_sees(run.path) == sees
    policy = load_policy(run.path)
    assert policy.weight_version >= 1
    if policy.projector is not None:  # it began as zero
        assert float(policy.projector.down_proj.weight.detach().abs().max()) > 0.0
    assert (policy.projector is not None) is (sees == "both")
