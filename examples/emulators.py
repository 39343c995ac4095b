"""Train on Android emulators that DistRL boots, watches and replaces itself.

Needs the Android SDK with a virtual device, a model, a GPU and a judge: docs/start/emulators.md.

python examples/emulators.py devices.count=4 judge.server=http://localhost:8000/v1
"""

import sys

import distrl

if __name__ == "__main__":
    run = distrl.train(distrl.load_config("emulators", sys.argv[1:]))
    played = list(run.trajectories())
    lost = sum(each.ending.broken for each in played)
    print(f"{len(played)} episodes, {lost} of them lost with their emulator")
    print(f"adapters in PEFT's format: {run.policy}")
