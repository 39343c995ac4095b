"""An agent that taps anywhere, on one task of the simulated phone."""

import argparse

import distrl

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    which = "as `distrl tasks` lists them, with a number"
    parser.add_argument("task", nargs="?", default="clock.turn_off_alarm/test/0", help=which)
    trajectory = distrl.play(parser.parse_args().task, "monkey")
    print(trajectory.task.instruction)
    for decision in trajectory.decisions:
        print(" ", decision.action)
    print(trajectory.ending.value, "-", trajectory.verdict.reason if trajectory.verdict else "")
