"""Cluster nodes: start, join, probe, connect."""
