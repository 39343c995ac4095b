"""One rank for `test_data_parallel`: python -m tests.learning.data_parallel_rank FOLDER RANK FD….

Leads or follows through a few rounds of the small world with each of some algorithms, and leaves
what it has then in FOLDER: weights, and what it published. Each FD is its end of a pipe between the
two ranks, one for each algorithm.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from safetensors.torch import save_file
from tests.learning.small_circle import SmallCircle, a_ride

from distrl.errors import UsageError
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.digirl import Digirl, DigirlSettings
from distrl.learning.algorithms.ppo import Ppo
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.data_parallel import DataParallelGroup, follow
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner_report import LearnerReport
from distrl.learning.process_group import ProcessGroup
from distrl.replay.buffer.pacing import Pacing


def eager_digirl(step: GradientStep) -> Digirl:
    return Digirl(step, DigirlSettings(threshold=-1.0))  # which moves from the first update on


ALGORITHMS: dict[str, Callable[[GradientStep], Algorithm]] = {
    "a_ride": a_ride,
    "digirl": eager_digirl,  # not every share has a first turn, where instructions are learned
    "ppo": Ppo,  # several steps on one batch
}
ROUNDS, RESTORED_AT = 6, 4


def circle_of(name: str, seed: int = 0, process_group: ProcessGroup | None = None) -> SmallCircle:
    return SmallCircle(
        seed,
        make=ALGORITHMS[name],
        process_group=process_group,
        pacing=Pacing(4.0, minimum_fill=4),
        batch_trajectories=5,
        updates_per_publish=1,
    )


def lead(circle: SmallCircle, folder: Path) -> list[LearnerReport]:
    """Some rounds, on the way back to a checkpoint once."""
    checkpoints = CheckpointFolder(folder)
    reports = circle.rounds(0, RESTORED_AT)
    checkpoints.save(circle.learner)
    circle.rounds(100, 102)  # which are given up
    checkpoints.restore(circle.learner, circle.kept.get)
    reports += circle.rounds(RESTORED_AT, ROUNDS)
    return [each for each in reports if isinstance(each, LearnerReport)]


def refused_to_lead(circle: SmallCircle) -> bool:
    circle.collect("mine", 8)
    try:
        circle.learner.step()
    except UsageError:
        return not circle.versions
    return False


def learn(folder: Path, rank: int, name: str, descriptor: int) -> None:
    group = DataParallelGroup(rank, 2, "cpu", [Connection(descriptor)])
    circle = circle_of(name, seed=rank, process_group=group)  # critics that differ at first
    group.join()
    own = folder / f"{name}-{rank}"
    said: dict[str, object] = {"size": group.size}
    if rank == 0:
        reports = lead(circle, own / "checkpoints")
        said["losses"] = [report.losses for report in reports]
        said["values"] = [report.mean_value for report in reports]
    else:
        said["refused"] = refused_to_lead(circle)
        follow(circle.learner.algorithm, circle.learner.gradient_step)
    group.leave()
    own.mkdir(exist_ok=True)
    said["versions"] = circle.versions
    save_file(circle.policy.weights(), own / "weights.safetensors")
    (own / "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    for each, given in zip(ALGORITHMS, sys.argv[3:], strict=True):
        learn(Path(sys.argv[1]), int(sys.argv[2]), each, int(given))
