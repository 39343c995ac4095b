"""Two algorithms, three seeds each: the mean success after training, and its spread."""

import statistics
import sys

import distrl

SEEDS = 3


def success(algorithm: str, seed: int, settings: list[str]) -> float:
    words = [f"learning.algorithm={algorithm}", f"run.seed={seed}", f"run.name={algorithm}-{seed}"]
    run = distrl.train(distrl.load_config("quick_start", [*words, *settings]), quiet=True)
    assert run.result is not None
    return run.result.success_after.rate


if __name__ == "__main__":
    for algorithm in ("a_ride", "filtered_bc"):
        rates = [success(algorithm, seed, sys.argv[1:]) for seed in range(SEEDS)]
        print(f"{algorithm}: {statistics.fmean(rates):.1%} ± {statistics.stdev(rates):.1%}", rates)
