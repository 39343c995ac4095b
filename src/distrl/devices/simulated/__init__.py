"""A phone that lives in memory: it draws real screens, runs apps and can be judged exactly."""
