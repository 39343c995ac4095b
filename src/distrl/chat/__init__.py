"""Models that answer elsewhere: an OpenAI-compatible server, and screens as it takes them."""
