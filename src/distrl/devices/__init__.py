"""Devices: the `Device` protocol that every phone implements, and its implementations."""
