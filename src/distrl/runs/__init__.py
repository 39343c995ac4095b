"""A run on disk: its directory, metrics, logs and records."""
