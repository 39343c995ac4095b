"""Pages of a headless Chromium as devices."""
