"""Phones behind an adb server: handsets, emulators, and served simulated phones."""
