"""Teaches the starter model to act, by example, from random weights."""
