"""The simulated phone as a device of the Android Debug Bridge, for a real `adb` on loopback."""
