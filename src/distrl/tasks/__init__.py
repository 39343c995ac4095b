"""What is asked of an agent, and whether it was done."""
