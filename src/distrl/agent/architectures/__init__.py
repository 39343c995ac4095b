"""The two shapes of model that a policy can be: decoder-only, and encoder with decoder."""
