"""The web that the simulated phone can reach: a search engine, things to read, and six shops."""
