"""The judge for simulated phones: decides from the phone's facts whether a task was done.

It compares the facts before and after and ignores the path between them, so verdicts are exact and
cost microseconds. The verdict on a failure also has the agent's progress (`goal`): for that, the
task's own solution is played once on a copy of the phone, which takes tens of milliseconds.
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
    """Implements `distrl.judging.judge.Judge`: judges tasks by the facts of a simulated phone."""

    def __init__(self, device: HasPhone) -> None:
        self._device = device
        self._prepared: PhoneState
        self._goal: Goal | None = None
        self._goal_known = False
        self.template: Template
        self.start: View

    def begin(self, task: Task) -> Task:
        """Put on the phone what the task needs, and record the facts before the episode.

        Return the task with its instruction in the phone's language, if it is translated.
        """
        template, spoken = load_task(task.id)[1], self._device.phone.language
        self.begin_template(task, template)
        said = instruction_in(template, spoken, random.Random(f"{task.id}/{spoken.name}"))
        return task if said is None else replace(task, instruction=said)

    def begin_template(self, task: Task, template: Template) -> None:
        """Like `begin`, with a given template instance instead of the one that the id rebuilds."""
        self.template = template
        phone = self._device.phone
        self.template.prepare(phone.facts, random.Random(f"prepare/{original(task.id)}"))
        phone.refresh()
        self.start = view_of(phone)
        self._prepared, self._goal, self._goal_known = phone.snapshot(), None, False

    @property
    def phone(self) -> Phone:
        """The phone that this judge inspects."""
        return self._device.phone

    @property
    def goal(self) -> Goal | None:
        """What the task's own solution leaves behind; None if it has no working solution."""
        if not self._goal_known:
            self._goal = goal_of(self.template, self.start, self._prepared)
            self._goal_known = True
        return self._goal

    def reply(self, question: str) -> str:
        """Return the simulated user's reply to a question, in the language of the instruction."""
        return reply_of(self.template, question, self._device.phone.language)

    def reason(self, answer: str | None) -> str | None:
        """Return why the task is not done, None if it is: the verdict without the progress."""
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
