"""Where trajectories wait for the learner: bounded, packed, and drawn by how much they teach."""
