"""The replay buffer in memory: prioritised sampling, pacing, bounded in bytes."""
