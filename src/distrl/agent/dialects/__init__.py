"""Ways to write an action down: one file for each dialect."""
