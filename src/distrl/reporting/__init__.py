"""What a person sees: live view, report, recordings."""
