"""Engines: they build the parts from the settings, run them, and see to it that they keep going."""
