"""Tasks in the app Feed."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from distrl.records import Difficulty
from phonesim.apps.everyday.feed_writing import REASONS
from phonesim.contents.everyday.posts import (
    AUDIENCES,
    EVERYBODY,
    ME,
    REMARKS,
    BlockedAuthor,
    Comment,
    FeedSettings,
    Following,
    Post,
    PostReport,
)
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.everyday_sources import POSTS
from phonesim.tasks.everyday.put import open_post, post_saying, put_post
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.general.people import NAMES, TEXTS, known
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View

COMMENTS = Domain("comments", (*REMARKS, "Tell me more", "What a day", "I was there, too"))
REPORTS = Domain("reasons to report", REASONS)
SWITCHES = Domain(
    "feed switches",
    (
        ("mentions", "Tell me when I am mentioned"), ("autoplay", "Play videos at once"),
        ("personal_ads", "Ads that know me"), ("sensitive_hidden", "Hide sensitive posts"),
    ),
    say=lambda pair: pair[1],
)  # fmt: skip
LIMITED = Domain("audiences", (*AUDIENCES[1:], "followers only", "myself only"))


@dataclass(frozen=True)
class CommentOn(Errand):
    name = "feed.comment"
    apps = ("Feed",)
    difficulty = "hard"
    phrasings = (
        'Comment "{comment}" on the post "{post}" in Feed',
        'Write "{comment}" below the post "{post}" in Feed',
        'There is a post "{post}" in Feed. Leave the comment "{comment}"',
    )
    touches = (Comment,)
    post: str = parameter(POSTS)
    comment: str = parameter(COMMENTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_post(facts, rng, rng.choice(facts.all(Contact)).name, self.post)

    def missing(self, start: View, end: View) -> str | None:
        post = post_saying(start, self.post).id
        return only_added(start, end, Comment, post=post, author=ME, text=self.comment)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_post(self.post)
        yield Fill("Add a comment", self.comment)
        yield Press("Send comment")


@dataclass(frozen=True)
class LikePost(Errand):
    name = "feed.like"
    apps = ("Feed",)
    difficulty = "medium"
    phrasings = (
        'Like the post "{post}" in Feed',
        'Give the post "{post}" in Feed a heart',
        'I like "{post}" in Feed. Show it',
    )
    touches = (Post,)
    post: str = parameter(POSTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_post(facts, rng, rng.choice(facts.all(Contact)).name, self.post)

    def missing(self, start: View, end: View) -> str | None:
        post = post_saying(start, self.post)
        return only_changed(start, end, Post, post.id, liked=True, likes=post.likes + 1)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_post(self.post)
        yield Press("Like", role="button")


@dataclass(frozen=True)
class SavePost(LikePost):
    name = "feed.save"
    phrasings = (
        'Save the post "{post}" in Feed',
        'I want to read "{post}" in Feed again later. Save that post',
        'Put the post "{post}" among the saved ones in Feed',
    )

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Post, post_saying(start, self.post).id, saved=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_post(self.post)
        yield Press("Save post")


@dataclass(frozen=True)
class FollowPerson(Errand):
    name = "feed.follow"
    apps = ("Feed",)
    difficulty = "medium"
    phrasings = (
        "Follow {person} in Feed",
        "I want to see what {person} posts in Feed. Follow them",
        "Search for {person} in Feed and follow them",
    )
    touches = (Following,)
    person: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        facts.remove_where(Following, lambda each: each.person == self.person)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, Following, person=self.person)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Search", role="button")
        yield Fill("Search Feed", self.person)
        yield Press(self.person, role="row")
        yield Press("Follow", role="button")


@dataclass(frozen=True)
class BlockAuthor(Errand):
    name = "feed.block"
    apps = ("Feed",)
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        "Block {person} in Feed",
        "I never want to see {person} in Feed again. Block them, and nobody else",
        "See to it that {person} is blocked in the Feed app",
    )
    touches = (BlockedAuthor, Following)
    person: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        if not facts.find(Following, lambda each: each.person == self.person):
            facts.add(Following(person=self.person))

    def missing(self, start: View, end: View) -> str | None:
        gone = [each.id for each in start.all(Following) if each.person == self.person]
        wrong = only_added(start, end, BlockedAuthor, person=self.person)
        return wrong or only_removed(start, end, Following, *gone)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Search", role="button")
        yield Fill("Search Feed", self.person)
        yield Press(self.person, role="row")
        yield Press("Block", role="button")
        yield Press("Block", role="button")


@dataclass(frozen=True)
class WritePost(Errand):
    name = "feed.post"
    apps = ("Feed",)
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        'Post "{text}" in Feed, but only for {audience}',
        'Write a post "{text}" in Feed. The audience must be {audience}, nobody else',
        'In Feed, share "{text}" with {audience}',
    )
    touches = (Post,)
    text: str = parameter(TEXTS)
    audience: str = parameter(LIMITED)

    @property
    def _audience(self) -> str:
        return AUDIENCES[1] if "ollowers" in self.audience else AUDIENCES[2]

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, Post, author=ME, text=self.text, audience=self._audience)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("New post")
        yield Fill("What is on your mind?", self.text)
        yield Press("Audience")
        yield Press(self._audience, role="row")
        yield Press("Post", role="button")


@dataclass(frozen=True)
class DeletePost(Errand):
    name = "feed.delete_post"
    apps = ("Feed",)
    difficulty: ClassVar[Difficulty] = "medium"
    high_stakes = True
    phrasings = (
        'Delete my post "{text}" in Feed',
        'My post "{text}" in Feed should be gone, and no other',
        'I regret having posted "{text}" in Feed. Remove it',
    )
    touches = (Post,)
    text: str = parameter(TEXTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_post(facts, rng, ME, "A post that I want to keep")
        put_post(facts, rng, ME, self.text)

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, Post, post_saying(start, self.text).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Me", role="tab")
        yield Press(self.text)
        yield Press("More options")
        yield Press("Delete post")
        yield Press("Delete")


@dataclass(frozen=True)
class HidePost(DeletePost):
    name = "feed.hide_post"
    difficulty = "hard"
    phrasings = (
        'Make my post "{text}" in Feed visible to me alone, without deleting it',
        'Nobody but me should see my post "{text}" in Feed. Keep it, though',
        'Change the audience of my post "{text}" in Feed to "Only me"',
    )

    def missing(self, start: View, end: View) -> str | None:
        post = post_saying(start, self.text)
        return only_changed(start, end, Post, post.id, audience=AUDIENCES[2])

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_post(facts, rng, ME, self.text, audience=EVERYBODY)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Me", role="tab")
        yield Press(self.text)
        yield Press("More options")
        yield Press("Edit post")
        yield Press("Audience")
        yield Press(AUDIENCES[2], role="row")
        yield Press("Save", role="button")


@dataclass(frozen=True)
class ReportPost(Errand):
    name = "feed.report"
    apps = ("Feed",)
    difficulty = "hard"
    phrasings = (
        'Report the post "{post}" in Feed as "{reason}"',
        'Tell the people behind Feed that "{post}" is to be reported: {reason}',
        'The post "{post}" in Feed must be reported. The reason is "{reason}"',
    )
    touches = (PostReport,)
    post: str = parameter(POSTS)
    reason: str = parameter(REPORTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_post(facts, rng, rng.choice(facts.all(Contact)).name, self.post)

    def missing(self, start: View, end: View) -> str | None:
        post = post_saying(start, self.post).id
        return only_added(start, end, PostReport, post=post, reason=self.reason)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_post(self.post)
        yield Press("More options")
        yield Press("Report", role="row")
        yield Press(self.reason, role="row")


@dataclass(frozen=True)
class SwitchOffSetting(Errand):
    name = "feed.switch_off"
    apps = ("Feed",)
    difficulty = "medium"
    phrasings = (
        'Switch off "{setting}" in Feed',
        'In the settings of Feed, turn "{setting}" off',
        'The setting "{setting}" of the Feed app should be off',
    )
    touches = (FeedSettings,)
    setting: tuple[str, str] = parameter(SWITCHES)

    def missing(self, start: View, end: View) -> str | None:
        settings = start.one(FeedSettings).id
        return only_changed(start, end, FeedSettings, settings, **{self.setting[0]: False})

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Menu")
        yield Press("Feed settings")
        yield Press(self.setting[1], role="row")


TEMPLATES: tuple[type[Template], ...] = (
    CommentOn, LikePost, SavePost, FollowPerson, BlockAuthor, WritePost, DeletePost, HidePost,
    ReportPost, SwitchOffSetting,
)  # fmt: skip
