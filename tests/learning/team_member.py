"""One process of a team, for `test_several_gpus`: python -m tests.learning.team_member FOLDER.

Leads or follows, as its place has it, through a few rounds of the small world with each of some
algorithms, and leaves what it has then in FOLDER: weights, and what it published.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from safetensors.torch import save_file
from tests.learning.small_circle import SmallCircle, a_ride

from distrl.errors import UsageError
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.digirl import Digirl, DigirlSettings
from distrl.learning.algorithms.ppo import Ppo
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner_report import LearnerReport
from distrl.learning.process_group import ProcessGroup
from distrl.learning.several_gpus import SeveralGpus, follow
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


def main(folder: Path) -> None:
    with SeveralGpus(cpu=True) as process_group:
        for name in ALGORITHMS:
            circle = circle_of(
                name, seed=process_group.place, process_group=process_group
            )  # critics that differ at first
            own = folder / f"{name}-{process_group.place}"
            said: dict[str, object] = {"size": process_group.size}
            if process_group.leads:
                reports = lead(circle, own / "checkpoints")
                said["losses"] = [report.losses for report in reports]
                said["values"] = [report.mean_value for report in reports]
                process_group.dismiss()
            else:
                said["refused"] = refused_to_lead(circle)
                follow(circle.policy, circle.learner.algorithm, circle.learner.gradient_step)
            own.mkdir(exist_ok=True)
            said["versions"] = circle.versions
            save_file(circle.policy.weights(), own / "weights.safetensors")
            (own / "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
