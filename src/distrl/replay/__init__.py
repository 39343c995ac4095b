"""Trajectories for the learner: a prioritised replay buffer in memory and a store on disk."""
