"""Limits for an agent on a person's phone: consent, allow-list, blocked actions."""
