"""Adapters to and from DeepMind's AndroidEnv."""
