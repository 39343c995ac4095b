"""Collectors of other machines that reach the learner over outgoing TLS connections alone."""
