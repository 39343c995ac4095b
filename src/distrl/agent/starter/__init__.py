"""The starter: our own small model, which reads a screen and an instruction and picks an action."""
