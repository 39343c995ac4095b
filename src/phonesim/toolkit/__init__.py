"""The widgets that every app's pages are built from."""
