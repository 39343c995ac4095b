"""One policy for the devices of several collectors: its server, and the client of a collector."""
