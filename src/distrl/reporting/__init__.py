"""Output for people: live view, report, recordings, estimates."""
