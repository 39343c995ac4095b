"""Limits on what an agent can do on a person's phone: consent, allow-list, blocked actions."""
