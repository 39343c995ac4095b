"""The phones: what every device can do, and the kinds there are."""
