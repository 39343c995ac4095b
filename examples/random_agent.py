"""An agent that taps anywhere, on one task of the simulated phone."""

import sys

import distrl

if __name__ == "__main__":
    task = sys.argv[1] if len(sys.argv) > 1 else "clock.turn_off_alarm/test/0"
    trajectory = distrl.play(task, "monkey")
    print(trajectory.task.instruction)
    for decision in trajectory.decisions:
        print(" ", decision.action)
    print(trajectory.ending.value, "-", trajectory.verdict.reason if trajectory.verdict else "")
