"""Plays episodes (an agent attempts a task on a device), and collects their trajectories."""
