"""A judge and a reward of your own in asynchronous training.

They are registered at the top of the module: collectors import it, too.
"""

import sys

import distrl
from distrl.records import Trajectory, Unreadable, Verdict


def tidy(trajectory: Trajectory) -> Verdict:
    """Good is who never says what cannot be read, and ends in time."""
    unreadable = sum(isinstance(each.action, Unreadable) for each in trajectory.decisions)
    in_time = len(trajectory.decisions) < trajectory.task.step_limit
    reason = f"{unreadable} unreadable answers, {'in' if in_time else 'out of'} time"
    return Verdict(in_time and not unreadable, reason, judge="tidy")


def per_step(trajectory: Trajectory) -> list[float]:
    """One number for each decision."""
    costs = [-0.05] * len(trajectory.decisions)
    costs[-1] += float(trajectory.success)
    return costs


distrl.register_judge("tidy", tidy)
distrl.register_reward("per_step", per_step)

if __name__ == "__main__":
    own = ["judge.kind=tidy", "learning.learner.rewards.kind=per_step"]
    run = distrl.train(distrl.load_config("quick_start", [*own, *sys.argv[1:]]))
    judged = [each.verdict for each in run.trajectories() if each.verdict]
    print(sum(each.success for each in judged), "of", len(judged), "were tidy")
