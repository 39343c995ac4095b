"""Benchmarks: `make bench-NAME` runs one, which writes benchmarks/results/NAME.json."""
