"""Predict, by simulation, what a run would achieve with other numbers of phones and GPUs."""
