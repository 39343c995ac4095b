"""A-RIDE and its baselines, one module each."""
