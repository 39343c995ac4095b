"""Losses and the token-level quantities they are made of, as pure functions."""
