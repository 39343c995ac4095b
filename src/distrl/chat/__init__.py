"""Clients for models behind OpenAI-compatible servers, and screens encoded for them."""
