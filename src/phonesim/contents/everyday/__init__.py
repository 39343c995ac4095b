"""What the everyday apps keep: money, journeys, threads, posts and meals."""
