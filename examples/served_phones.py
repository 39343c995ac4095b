"""Train on phones on adb: ten minutes on four simulated ones, which adb takes for real ones.

In another window: `distrl phone serve --phones 4`; then
`for port in 7411 7412 7413 7414; do distrl adb connect 127.0.0.1:$port; done` (adb, wherever it is
installed). Handsets are the same with `distrl.load_config("handsets")`: docs/start/handsets.md says
what their owners agree to first.
"""

import sys

import distrl

OVER_ADB = ["devices.kind=adb", "devices.count=4", "run.minutes=10", "evaluation.before=0"]

if __name__ == "__main__":
    run = distrl.train(distrl.load_config("quick_start", [*OVER_ADB, *sys.argv[1:]]))
    played = list(run.trajectories())
    print(f"{sum(each.success for each in played)} of {len(played)} episodes were successes")
    print(run.directory, run.result.success_after if run.result else "stopped")
