"""What the app Feed keeps: posts, comments, whom we follow and block, our own page."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from phonesim.contents.people import Contact
from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts

ME = "You"
EVERYBODY, FOLLOWERS, ONLY_ME = "Everybody", "Followers", "Only me"
AUDIENCES = (EVERYBODY, FOLLOWERS, ONLY_ME)
SCENES = (
    "beach", "forest", "lake", "snow", "flower", "city", "mountain", "meadow", "cake", "food",
    "sunset", "boat",
)  # fmt: skip
TOPICS = ("#garden", "#running", "#books", "#cooking", "#music", "#travel")
WORDS = (
    "First tomatoes of the year", "Ten kilometres before breakfast", "Could not put it down",
    "My first sourdough that did not collapse", "Front row tonight", "Where shall we go next?",
    "Three days without a phone", "Found this at the flea market", "Rain again, so soup it is",
    "New strings, old songs", "The view from the top", "A quiet Sunday", "Guess the city",
    "It took a year, and now it blooms", "Who else is up this early?", "Lost in a good chapter",
)  # fmt: skip
REMARKS = (
    "Beautiful!", "I want that too", "Where is this?", "Well done", "Ha, same here", "So jealous",
    "Take me with you", "Recipe, please",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Post:
    """Something that was posted."""

    id: int = 0
    author: str = ""
    text: str = ""
    topic: str = ""
    picture: str = ""
    time: datetime = LONG_AGO
    likes: int = 0
    liked: bool = False
    saved: bool = False
    audience: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said below a post."""

    id: int = 0
    post: int = 0
    author: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Following:
    """Somebody whose posts we see."""

    id: int = 0
    person: str = ""


@dataclass(frozen=True, slots=True)
class BlockedAuthor:
    """Somebody whose posts we never see."""

    id: int = 0
    person: str = ""


@dataclass(frozen=True, slots=True)
class PostReport:
    """A post that we told the people behind the app about."""

    id: int = 0
    post: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FeedSettings:
    """Our own page and what others may do. There is one."""

    id: int = 0
    name: str = "Me"
    about: str = "New here"
    private: bool = False
    comments_allowed: bool = True
    mentions: bool = True
    autoplay: bool = True
    sensitive_hidden: bool = True
    personal_ads: bool = True
    active: bool = True


def furnish_posts(facts: Facts, rng: random.Random, now: datetime) -> None:
    """A timeline of people that we follow, and some that we do not."""
    facts.add(FeedSettings())
    people = rng.sample([contact.name for contact in facts.all(Contact)], 10)
    for person in people[:6]:
        facts.add(Following(person=person))
    time = now
    for text in rng.sample(WORDS, 12):
        time -= timedelta(minutes=rng.randrange(20, 400))
        picture = f"photo:{rng.choice(SCENES)}" if rng.random() < 0.45 else ""
        author = rng.choice(people)
        likes = rng.randrange(2, 240)
        post = facts.add(Post(0, author, text, rng.choice(TOPICS), picture, time, likes))
        for person in rng.sample(people, rng.randrange(0, 3)):
            facts.add(Comment(0, post.id, person, rng.choice(REMARKS)))
