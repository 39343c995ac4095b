"""Benchmarks: each is run by `make bench-NAME` and writes results/NAME.json."""
