"""From trajectories to better weights: targets, losses, algorithms and the learner."""
