"""Durable trajectories on disk."""
