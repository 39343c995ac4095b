"""Made-up texts for the parameters of demonstrated tasks.

A domain has some twenty titles or names. A model that is trained on those alone memorises them
instead of learning to copy, and fails at the first title that it has never seen. So a part of the
demonstrations uses made-up words, generated from the letter sequences of real ones, and made-up
numbers, wherever a parameter may be any text.
"""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from functools import cache

from phonesim.tasks.domains import domain_of
from phonesim.tasks.template import Template

MAX_LETTERS = 12  # of a made-up word

# The domains whose values may be any text, because the task puts them on the phone or has the agent
# type them. Other domains name what is there already (an app, a city) and cannot be made up.
ANY_TEXT = frozenset(
    {
        "alarm labels", "bluetooth devices", "companies that write mails", "event places",
        "event titles", "mail subjects", "message texts", "network names", "network passwords",
        "new albums", "new people", "new to-do lists", "note texts", "note titles", "occasions",
        "people", "phone names", "phone numbers", "photo places", "playlists",
        "services that write", "short numbers", "to-do items", "to-do lists",
        "web searches",
    }
)  # fmt: skip


def with_fresh_words(template: Template, rng: random.Random) -> Template:
    """Return the task with made-up texts where its parameters allow them, else unchanged."""
    fields = dataclasses.fields(template)  # type: ignore[arg-type]
    texts = {
        field.name: made_up(getattr(template, field.name), rng)
        for field in fields
        if domain_of(field).name in ANY_TEXT
    }
    fresh: Template = dataclasses.replace(template, **texts)  # type: ignore[type-var]
    return fresh if fresh.sensible() else template


def made_up(text: str, rng: random.Random) -> str:
    """Return a text of the same form: as many words, digits for digits, capitals for capitals."""
    return " ".join(_word(word, rng) for word in text.split(" "))


def _word(word: str, rng: random.Random) -> str:
    if any(character.isdigit() for character in word):
        return "".join(rng.choice("0123456789") if c.isdigit() else c for c in word)
    bare = word.strip(".,:;!?")
    if not bare.isalpha():
        return word
    letters = _spell(rng)
    letters = letters.upper() if bare.isupper() and len(bare) > 1 else letters
    letters = letters.capitalize() if bare.istitle() else letters
    return word.replace(bare, letters)


def _spell(rng: random.Random) -> str:
    """Sample a word, letter by letter, from a second-order Markov chain over real words."""
    followers = _followers()
    word = ""
    while len(word) < MAX_LETTERS:
        after = rng.choice(followers[f"  {word}"[-2:]])
        if after == " " and len(word) > 1:
            return word
        word += after.strip()
        if after == " ":
            return _spell(rng)
    return word


@cache
def _followers() -> dict[str, str]:
    """Map each letter pair to the letters that follow it, with repetition; a space ends a word."""
    following: dict[str, list[str]] = defaultdict(list)
    for word in WORDS.split():
        spelled = f"  {word} "
        for at in range(len(word) + 1):
            following[spelled[at : at + 2]].append(spelled[at + 2])
    return {pair: "".join(letters) for pair, letters in following.items()}


WORDS = """
able about above across actor after again agree almond amber anchor angle animal answer apple
april arch arrow artist autumn average awake bacon badge baker bamboo banner barley basket beacon
because before begin believe berry better between bicycle blanket blossom border bottle branch
bread bridge bright broken brother bubble bucket build butter button cabin camera candle canvas
carbon castle caught celery center chair change chapter cheese cherry circle citizen clean clever
climate clock cloud coffee collect colour comfort common copper corner cotton country courage
cousin cradle crane cream cross crystal current curtain custom dancer danger daughter decide deep
desert diamond dinner discover doctor double dragon drawer dream drive during eagle early earth
editor eight elbow electric empty energy engine enough evening every exact example expert fabric
family famous farmer father favour feather fellow fiction figure finger finish flower follow
forest forget forward fountain freedom frozen future galaxy garden garlic gather gentle ghost
giant ginger glass globe golden grammar grape gravel great green grocer guitar habit half hammer
handle happy harvest hazel health heavy helmet hidden history hollow honest honey horizon hotel
hundred hunter image import indoor inside island jacket jelly jewel journey juice jungle kettle
keyboard kitchen knife ladder language lantern laugh leather lemon letter library light linen
liquid little lizard lobster lonely magic magnet maple marble market master meadow measure melon
memory message middle mineral minute mirror modern moment monkey morning mother motor mountain
museum music nation nature needle neighbour never night noble north notice number object ocean
office olive opera orange orbit orchard order organ other outside oxygen oyster packet paint paper
parade parent parrot passport pattern peace pencil people pepper perfect person phrase piano
picnic picture pillow pilot planet plastic please pocket poetry polite potato powder praise pretty
price private problem promise proud public pumpkin purple puzzle quality quarter queen question
quick quiet rabbit radio railway rainbow random reason record remember repair rescue result ribbon
river rocket roof royal rubber saddle sailor salad sample sandal school science season second
secret shadow shelter shoulder silent silver simple sister sketch smooth snow soldier special
spider spirit spring square stable station stone storm story stream street strong student sudden
sugar summer sunday supper surface sweet symbol table teacher temple theatre thing thought thunder
ticket timber tiger together tomato tower travel treasure triangle trouble tunnel twenty umbrella
uncle under uniform useful valley vanilla velvet village violin visitor voice volcano wagon walnut
warm water weather wedding whale wheel whisper white window winter wisdom wonder wooden world
yellow yesterday young zebra
"""
