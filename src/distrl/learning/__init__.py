"""Training on trajectories: targets, losses, algorithms and the learner."""
