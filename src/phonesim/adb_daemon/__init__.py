"""The simulated phone behind the Android Debug Bridge: what a real `adb` talks to, on loopback."""
