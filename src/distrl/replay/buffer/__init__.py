"""The replay buffer in memory: prioritised sampling, pacing, and a limit in bytes."""
