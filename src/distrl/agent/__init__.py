"""Policies: models that read a screen and an instruction and choose the next action."""
