"""The simulated phone seen without colour, as with Android's setting "Grayscale"."""

from __future__ import annotations

import numpy as np

from distrl.records import Action, Screen
from phonesim.simulated_device import SimulatedDevice

LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601


class GrayscalePhone(SimulatedDevice):
    """Implements `Device`; `strength` 0 leaves all colour."""

    def __init__(self, name: str, strength: str = "1") -> None:
        super().__init__(name)
        self._strength = float(strength)

    def screen(self) -> Screen:
        return self._gray(super().screen())

    def perform(self, action: Action) -> Screen:
        return self._gray(super().perform(action))

    def _gray(self, screen: Screen) -> Screen:
        gray = (screen.pixels @ LUMA)[:, :, None]  # [height, width, 1]
        mixed = self._strength * gray + (1.0 - self._strength) * screen.pixels
        return Screen(mixed.astype(np.uint8))
