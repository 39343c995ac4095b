"""Pretrains the starter model by imitation of scripted demonstrations, from random weights."""
