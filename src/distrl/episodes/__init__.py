"""Device, agent and task make an episode."""
