"""The records of the everyday apps: money, journeys, threads, posts and meals."""
