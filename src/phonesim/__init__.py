"""A simulated Android-like phone in memory, with tasks, judges and an adb daemon."""
