"""Judges a task by the facts of the simulated phone.

It compares the facts before and after and never asks which way was taken, so verdicts are exact and
cost microseconds. A failure also says how far the agent came (`goal`): for that the task's own
solution is played once on a copy of the phone, tens of milliseconds for each episode that failed.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Protocol

from distrl.records import Task, Verdict
from phonesim.phone import Phone
from phonesim.state import PhoneState
from phonesim.tasks.goal import Goal, goal_of
from phonesim.tasks.instructions import instruction_in
from phonesim.tasks.scripted_user import reply_of
from phonesim.tasks.task_sets import load_task, original
from phonesim.tasks.template import Template, View, view_of
from phonesim.tasks.world_changes import the_world_did_something, with_world, without_world

JUDGE = "facts"


class HasPhone(Protocol):
    """A device whose simulated phone can be inspected."""

    @property
    def phone(self) -> Phone: ...


class FactJudge:
    """Judges tasks on a simulated phone by its facts; implements `distrl.judging.judge.Judge`."""

    def __init__(self, device: HasPhone) -> None:
        self._device = device
        self._prepared: PhoneState
        self._goal: Goal | None = None
        self._goal_known = False
        self.template: Template
        self.start: View

    def begin(self, task: Task) -> Task:
        """Put on the phone what the task needs, and remember the facts before the episode.

        Return the task as it is said in the phone's language.
        """
        template, spoken = load_task(task.id)[1], self._device.phone.language
        self.begin_template(task, template)
        said = instruction_in(template, spoken, random.Random(f"{task.id}/{spoken.name}"))
        return task if said is None else replace(task, instruction=said)

    def begin_template(self, task: Task, template: Template) -> None:
        """`begin` with parameters that the task's id does not give."""
        self.template = template
        phone = self._device.phone
        self.template.prepare(phone.facts, random.Random(f"prepare/{original(task.id)}"))
        phone.refresh()
        self.start = view_of(phone)
        self._prepared, self._goal, self._goal_known = phone.snapshot(), None, False

    @property
    def phone(self) -> Phone:
        """The phone whose facts it knows, as it is now."""
        return self._device.phone

    @property
    def goal(self) -> Goal | None:
        """What the task's own solution leaves behind; None where it has none."""
        if not self._goal_known:
            self._goal = goal_of(self.template, self.start, self._prepared)
            self._goal_known = True
        return self._goal

    def reply(self, question: str) -> str:
        """What the user of this task says to a question, in the words of the task's language."""
        return reply_of(self.template, question, self._device.phone.language)

    def reason(self, answer: str | None) -> str | None:
        """Why the task is not done, None if it is: the verdict without how far the agent came."""
        return self._reason(view_of(self._device.phone, answer))

    def _reason(self, end: View) -> str | None:
        state = self._device.phone.state
        if not the_world_did_something(state):
            return self.template.verdict(self.start, end)
        quiet = self.template.verdict(self.start, without_world(self.start, end, state))
        if quiet is None:
            return None
        later = with_world(self.start, end, state)
        return quiet if self.template.verdict(later, end) else None

    def verdict(self, answer: str | None) -> Verdict:
        end = view_of(self._device.phone, answer)
        reason = self._reason(end)
        if reason is None:
            return Verdict(True, "", JUDGE, progress=1.0)
        if self.goal is None:
            return Verdict(False, reason, JUDGE)
        if the_world_did_something(self._device.phone.state):
            end = without_world(self.start, end, self._device.phone.state)
        return Verdict(
            False,
            reason,
            JUDGE,
            progress=self.goal.progress(end),
            missing=self.goal.missing(end),
            collateral=tuple(map(str, self.goal.collateral(end))),
        )
