"""Judges: the verdict on an episode, by device facts or by a vision-language model."""
