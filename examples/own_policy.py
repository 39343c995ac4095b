"""A policy of your own on 20 tasks: open the app that the instruction names, and say done."""

import argparse
from collections.abc import Sequence

import distrl
from distrl.records import Decision, Done, Observation, OpenApp
from phonesim.apps import APPS


class OpensTheApp:
    """A policy has one method. It gets a batch, one observation for each phone."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [self._decide(each) for each in observations]

    def _decide(self, observation: Observation) -> Decision:
        named = [name for name in APPS if name.lower() in observation.instruction.lower()]
        if observation.past_actions or not named:
            return Decision(Done())
        return Decision(OpenApp(named[0]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episodes", nargs="?", type=int, default=20)
    found = distrl.evaluate(OpensTheApp(), episodes=parser.parse_args().episodes)
    for outcome in found.outcomes:
        print(outcome.ending.value, outcome.task.id, outcome.reason, sep="\t")
    print(found)
