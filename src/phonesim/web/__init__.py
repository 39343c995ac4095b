"""The simulated web that the phone can reach: a search engine, two reading sites, six shops."""
