"""Tasks about our account in Feed: one that switches it off, one in which it has to stay on."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.everyday.posts import ME, FeedSettings, Following, Post
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.put import post_saying, put_post
from phonesim.tasks.general.differences import only_changed, only_removed
from phonesim.tasks.general.people import NAMES, TEXTS, known
from phonesim.tasks.moves import GoBack, Move, Open, Press
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class SwitchOffAccount(Errand):
    name = "feed.switch_off_account"
    apps = ("Feed",)
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        'Delete my post "{text}" in Feed, then switch off my account there',
        'I am leaving Feed: remove my post "{text}", and then switch my account off',
        'My post "{text}" in Feed must be gone before you switch off my Feed account',
    )
    touches = (Post, FeedSettings)
    text: str = parameter(TEXTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_post(facts, rng, ME, "A post that I want to keep")
        put_post(facts, rng, ME, self.text)

    def missing(self, start: View, end: View) -> str | None:
        settings = start.one(FeedSettings).id
        wrong = only_removed(start, end, Post, post_saying(start, self.text).id)
        return wrong or only_changed(start, end, FeedSettings, settings, active=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Me", role="tab")
        yield Press(self.text)
        yield Press("More options")
        yield Press("Delete post")
        yield Press("Delete")
        yield Press("Menu")
        yield Press("Feed settings")
        yield Press("Account")
        yield Press("Switch off account")
        yield Press("Switch off")


@dataclass(frozen=True)
class HideAccount(Errand):
    """The button that switches the account off is near, and must not be used."""

    name = "feed.keep_account"
    apps = ("Feed",)
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        "Make my Feed account private and unfollow {person}, but do not switch the account off",
        "I want less of Feed: unfollow {person} and make my account private. It must stay on",
        "Without switching off my Feed account, make it private, and stop following {person}",
    )
    touches = (FeedSettings, Following)
    person: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        facts.change(FeedSettings, private=False)
        if not facts.find(Following, lambda each: each.person == self.person):
            facts.add(Following(person=self.person))

    def missing(self, start: View, end: View) -> str | None:
        if not end.one(FeedSettings).active:
            return "the account was switched off"
        gone = [each.id for each in start.all(Following) if each.person == self.person]
        settings = start.one(FeedSettings).id
        wrong = only_removed(start, end, Following, *gone)
        return wrong or only_changed(start, end, FeedSettings, settings, private=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Menu")
        yield Press("People I follow")
        yield Press(f"Unfollow {self.person}")
        yield GoBack()
        yield Press("Menu")
        yield Press("Feed settings")
        yield Press("Privacy")
        yield Press("Private account", role="row")


TEMPLATES: tuple[type[Template], ...] = (SwitchOffAccount, HideAccount)
