"""Pixels: canvas, fonts, icons, pictures and themes."""
