"""Screen in, action out."""
