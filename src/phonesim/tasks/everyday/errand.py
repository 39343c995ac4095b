"""The base class of everyday templates that are not composed of parts: it installs the apps."""

from __future__ import annotations

import random

from phonesim.apps.everyday import install
from phonesim.facts import Facts
from phonesim.tasks.everyday.parts import people_differ
from phonesim.tasks.template import Template


class Errand(Template):
    """A task of the family Everyday. Subclasses implement `arrange` instead of `prepare`."""

    family = "everyday"

    def sensible(self) -> bool:
        return people_differ(self)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        install(facts, rng)
        self.arrange(facts, rng)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        """Put on the phone what the task needs."""
