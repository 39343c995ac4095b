"""Judges of our own: one on the phone, during the episode, and one that sees trajectories."""

from __future__ import annotations

from distrl.devices.device import Device
from distrl.records import Task, Trajectory, Verdict


class PatientJudge:
    """Calls an episode a success whose last screen differs from its first."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._first = ""

    def begin(self, task: Task) -> None:
        self._first = self._device.screen().digest

    def verdict(self, answer: str | None) -> Verdict:
        moved = self._device.screen().digest != self._first
        return Verdict(moved, "" if moved else "nothing has happened", "patient")


def judge_by_length(trajectory: Trajectory) -> Verdict:
    """Short episodes are good ones."""
    short = len(trajectory.decisions) < trajectory.task.step_limit
    return Verdict(short, "" if short else "too long", "by_length")
