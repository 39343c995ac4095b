"""The two architectures that a policy can have: decoder-only and encoder-decoder."""
