"""What `distrl view` shows beside a step of a gray phone: how bright its screen was."""

from __future__ import annotations

from distrl.records import Trajectory


def brightness(trajectory: Trajectory, step: int) -> dict[str, str]:
    mean = trajectory.screens[step].pixels.mean() / 255.0
    return {"brightness": f"{mean:.0%}"}
