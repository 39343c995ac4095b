"""The records of the app Feed: posts, comments, followed and blocked people, the own profile."""

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
STORIES: dict[str, tuple[str, tuple[str, ...]]] = {  # text: its topic, pictures that fit
    "First tomatoes of the year": ("#garden", ("dish:Tomatoes",)),
    "Ten kilometres before breakfast": ("#running", ("photo:sunset", "photo:meadow", "")),
    "Could not put it down": ("#books", ("photo:coffee", "")),
    "My first sourdough that did not collapse": ("#cooking", ("dish:Sourdough",)),
    "Front row tonight": ("#music", ("photo:concert", "")),
    "Where shall we go next?": ("#travel", ("photo:beach", "photo:mountain", "photo:boat")),
    "Three days without a phone": ("#travel", ("photo:lake", "photo:forest", "photo:snow")),
    "Found this at the flea market": ("#music", ("cover:Flea market",)),
    "Rain again, so soup it is": ("#cooking", ("dish:Carrot soup", "")),
    "New strings, old songs": ("#music", ("",)),
    "The view from the top": ("#travel", ("photo:mountain", "photo:snow")),
    "A quiet Sunday": ("#books", ("photo:coffee", "photo:cat", "")),
    "Guess the city": ("#travel", ("photo:city",)),
    "It took a year, and now it blooms": ("#garden", ("photo:flower",)),
    "Who else is up this early?": ("#running", ("photo:sunset", "photo:forest")),
    "Lost in a good chapter": ("#books", ("photo:coffee", "")),
}
WORDS = tuple(STORIES)
REMARKS = (
    "Beautiful!", "I want that too", "Where is this?", "Well done", "Ha, same here", "So jealous",
    "Take me with you", "Recipe, please",
)  # fmt: skip
FITTING = {  # comments that fit any post (key ""), and those for a topic
    "": ("Beautiful!", "Well done", "Ha, same here", "So jealous"),
    "#garden": ("I want that too",),
    "#cooking": ("Recipe, please", "I want that too"),
    "#travel": ("Where is this?", "Take me with you"),
    "#music": ("Take me with you",),
}


@dataclass(frozen=True, slots=True)
class Post:
    """A post."""

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
    """A comment on a post."""

    id: int = 0
    post: int = 0
    author: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Following:
    """A person whose posts the user follows."""

    id: int = 0
    person: str = ""


@dataclass(frozen=True, slots=True)
class BlockedAuthor:
    """A person whose posts are hidden."""

    id: int = 0
    person: str = ""


@dataclass(frozen=True, slots=True)
class PostReport:
    """A post that the user reported."""

    id: int = 0
    post: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FeedSettings:
    """The user's profile and privacy settings. There is one record."""

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


def topic_of(text: str, rng: random.Random) -> str:
    """Return the topic of a text from `STORIES`, or a random topic for any other text."""
    chance = rng.choice(TOPICS)
    return STORIES[text][0] if text in STORIES else chance


def furnish_posts(facts: Facts, rng: random.Random, now: datetime) -> None:
    """Add a timeline of people whom the user follows, and of some others."""
    facts.add(FeedSettings())
    people = rng.sample([contact.name for contact in facts.all(Contact)], 10)
    for person in people[:6]:
        facts.add(Following(person=person))
    time = now
    for text in rng.sample(WORDS, 12):
        time -= timedelta(minutes=rng.randrange(20, 400))
        topic, pictures = STORIES[text]
        author, likes = rng.choice(people), rng.randrange(2, 240)
        post = facts.add(Post(0, author, text, topic, rng.choice(pictures), time, likes))
        remarks = rng.sample(FITTING[""] + FITTING.get(topic, ()), rng.randrange(0, 3))
        for person, remark in zip(rng.sample(people, len(remarks)), remarks, strict=True):
            facts.add(Comment(0, post.id, person, remark))
