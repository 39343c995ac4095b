"""Rewards, importance ratios, value targets and advantages, as pure functions."""
