"""What an agent may not do on a phone that belongs to somebody."""
