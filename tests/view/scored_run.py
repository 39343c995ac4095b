"""A run whose weights can be asked about a step."""

from __future__ import annotations

from pathlib import Path

import torch
from tests.engine.tiny_runs import tiny_config, write_model

from distrl.agent.loading import open_policy
from distrl.episodes.episode import run_episode
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_store import WeightStore
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task


def write_scored_run(folder: Path) -> RunDirectory:
    """An episode of a tiny policy, which has published itself and a version that learned."""
    found = RunDirectory(folder / "run")
    found.path.mkdir()
    config = tiny_config(folder, write_model(folder))
    found.write_config(config)
    policy = open_policy(config.agent.model, config.agent.policy)
    device = SimulatedDevice("phone")
    task = load_task("clock.delete_alarm/train/0")[0]
    with TrajectoryStore(found.trajectories) as store:
        store.append(run_episode(task, device, policy, FactJudge(device)))
    weights = policy.weights()
    published = WeightStore(found.weights)
    published.publish(weights, 1)
    generator = torch.Generator().manual_seed(0)
    learned = {
        name: each + torch.randn(each.shape, generator=generator) for name, each in weights.items()
    }
    published.publish(learned, 2)
    return found
