"""A device of your own: the simulated phone with its picture upside down."""

import sys

import numpy as np

import distrl
from distrl.records import Action, Screen
from phonesim.simulated_device import SimulatedDevice


class UpsideDownPhone(SimulatedDevice):
    """Implements `distrl.devices.device.Device`; docs/add-a-device.md has the contract."""

    def __init__(self, name: str) -> None:
        super().__init__(name)

    def screen(self) -> Screen:
        return _turned(super().screen())

    def perform(self, action: Action) -> Screen:
        return _turned(super().perform(action))


def _turned(screen: Screen) -> Screen:
    return Screen(np.ascontiguousarray(screen.pixels[::-1, ::-1]))


distrl.register_device("upside_down", UpsideDownPhone)

if __name__ == "__main__":
    words = ["devices.kind=upside_down", "run.trajectories=8", *sys.argv[1:]]
    run = distrl.collect(distrl.load_config("quick_start", words))
    for each in run.trajectories():
        print(each.ending.value, each.task.instruction, sep="\t")
