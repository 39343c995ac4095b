"""Which collectors are alive, and which must be restarted."""
