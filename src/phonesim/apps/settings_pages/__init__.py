"""The pages of the app Settings, as functions from a `Ui` to a window."""
