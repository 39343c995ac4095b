"""A device whose simulated phone a judge can look into, in memory or over adb."""

from __future__ import annotations

from typing import Protocol

from distrl.devices.device import Device
from distrl.devices.simulated.phone import Phone


class JudgedPhone(Device, Protocol):
    """What a `FactJudge` needs."""

    @property
    def phone(self) -> Phone: ...
