"""Settings: their definitions, and how they are read, checked and written."""
