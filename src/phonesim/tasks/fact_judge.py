"""Judges a task by the facts of the simulated phone.

It compares the facts before and after and never asks which way was taken, so verdicts are exact and
cost microseconds.
"""

from __future__ import annotations

import random
from typing import Protocol

from distrl.records import Task, Verdict
from phonesim.phone import Phone
from phonesim.tasks.task_sets import load_task
from phonesim.tasks.template import Template, View, view_of


class HasPhone(Protocol):
    """A device whose simulated phone can be inspected."""

    @property
    def phone(self) -> Phone: ...


class FactJudge:
    """Judges tasks on a simulated phone by its facts; implements `distrl.judging.judge.Judge`."""

    def __init__(self, device: HasPhone) -> None:
        self._device = device
        self.template: Template
        self.start: View

    def begin(self, task: Task) -> None:
        """Put on the phone what the task needs, and remember the facts before the episode."""
        self.begin_template(task, load_task(task.id)[1])

    def begin_template(self, task: Task, template: Template) -> None:
        """`begin` with parameters that the task's id does not give."""
        self.template = template
        phone = self._device.phone
        self.template.prepare(phone.facts, random.Random(f"prepare/{task.id}"))
        phone.refresh()
        self.start = view_of(phone)

    def verdict(self, answer: str | None) -> Verdict:
        reason = self.template.verdict(self.start, view_of(self._device.phone, answer))
        return Verdict(success=reason is None, reason=reason or "", judge="facts")
