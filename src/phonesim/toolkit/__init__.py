"""The widgets that every app is built from."""
