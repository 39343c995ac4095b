"""Judges: they set a task up on a device, and say afterwards whether it was done, and why not.

`FactJudge` reads the facts of a simulated phone. It never asks which way was taken, so its verdicts
are exact and cost microseconds. Where only somebody who sees the whole trajectory can judge (a
vision-language model, a person), `LaterJudge` lets the episode end without a verdict, so that its
phone does not wait: `judge_bench` has it judged.
"""

from __future__ import annotations

import random
from typing import Protocol

from distrl.devices.simulated.phone import Phone
from distrl.records import Task, Verdict
from distrl.tasks.task_sets import load_task
from distrl.tasks.template import Template, View, view_of


class Judge(Protocol):
    """Judges one episode: `begin` before its first screen, `verdict` at any time after."""

    def begin(self, task: Task) -> None: ...

    def verdict(self, answer: str | None) -> Verdict | None:
        """None: it comes later, from a judge of whole trajectories."""
        ...


class HasPhone(Protocol):
    """A device whose simulated phone can be looked into."""

    @property
    def phone(self) -> Phone: ...


class FactJudge:
    """Judges tasks on a simulated phone by its facts."""

    def __init__(self, device: HasPhone) -> None:
        self._device = device
        self.template: Template
        self.start: View

    def begin(self, task: Task) -> None:
        """Put on the phone what the task needs, and remember how it was."""
        _, self.template = load_task(task.id)
        phone = self._device.phone
        self.template.prepare(phone.facts, random.Random(f"prepare/{task.id}"))
        phone.refresh()
        self.start = view_of(phone)

    def verdict(self, answer: str | None) -> Verdict:
        reason = self.template.verdict(self.start, view_of(self._device.phone, answer))
        return Verdict(success=reason is None, reason=reason or "", judge="facts")


class LaterJudge:
    """Leaves the verdict to a judge of whole trajectories.

    Where tasks need preparation, `preparing` does it; its own verdict is not asked for.
    """

    def __init__(self, preparing: Judge | None = None) -> None:
        self._preparing = preparing

    def begin(self, task: Task) -> None:
        if self._preparing is not None:
            self._preparing.begin(task)

    def verdict(self, answer: str | None) -> None:
        return None
