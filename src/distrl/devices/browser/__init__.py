"""Devices that are pages of a headless Chromium."""
