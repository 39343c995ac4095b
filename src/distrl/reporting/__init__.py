"""What a person sees: films, screens, tables."""
