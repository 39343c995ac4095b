"""The supported model families: how the inputs of each are built."""
