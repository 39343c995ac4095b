"""The command line: one module per command; `main` registers them."""
