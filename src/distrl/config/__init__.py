"""Settings: what can be chosen, how it is read, and how it is written down again."""
