"""Our own small model: it reads a screen and an instruction, and says what to do next."""
