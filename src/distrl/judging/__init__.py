"""Judges, which give the verdict on an episode by device facts or a vision-language model."""
