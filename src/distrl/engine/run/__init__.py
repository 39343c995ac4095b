"""A training run: assembly, the main loop, resume, evaluation, limits."""
