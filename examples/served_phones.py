"""Phones on adb. First `distrl phone serve --phones 4`, which serves simulated ones to adb.

Handsets are the same with `distrl.load_config("handsets")`: docs/real-phones.md says what their
owners have to agree to first.
"""

import sys

import distrl

if __name__ == "__main__":
    words = ["devices.kind=adb", "devices.count=4", "run.trajectories=8", *sys.argv[1:]]
    run = distrl.collect(distrl.load_config("quick_start", words))
    print(run.directory, sum(each.success for each in run.trajectories()), "successes")
