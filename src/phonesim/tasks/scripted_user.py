"""A user who can be asked: replies from what the task is about, and from nothing else.

The user knows the parameters of the task by their names (`title`, `recipient`, `time`), as the
instruction says them, and more where a template says so (`Template.known_to_user`). A question that
names some of them is answered with those, one that names none with a plea to look again: asking
about everything at once is no way around reading the instruction.

On a phone that speaks another language the user does, too, where the task is said in it
(`instructions`): questions in that language are understood beside English ones, and the reply is in
it.
"""

from __future__ import annotations

import re

from phonesim.languages.language import Language, language
from phonesim.languages.translations import figures_in
from phonesim.tasks.instructions import Sentences, phrasings_in, sentences
from phonesim.tasks.template import Template

MAX_QUESTION = 400  # characters that a user reads
MAX_FACTS = 2  # that one question is answered with
UNKNOWN = "I do not know. Please look it up on the phone."
ALSO = {  # other words for the usual parameters
    "who": ("contact", "person", "recipient", "name", "sender"),
    "whom": ("contact", "person", "recipient", "name"),
    "when": ("time", "date", "day", "hour", "minute"),
    "where": ("place", "folder", "city", "address", "shop"),
    "much": ("amount", "price", "quantity"),
    "many": ("amount", "count", "quantity"),
    "called": ("title", "name", "label"),
    "say": ("text", "message", "body"),
    "write": ("text", "message", "body"),
}


def reply_of(template: Template, question: str, spoken: Language | None = None) -> str:
    """The user's reply to a question about a task; in English unless a language is given."""
    spoken = spoken or language("English")
    question = question[:MAX_QUESTION]
    table = sentences(spoken.name) if phrasings_in(type(template), spoken.name) else None
    asked = _words(question)
    meant = asked.union(*(ALSO.get(word, ()) for word in asked))
    known = template.known_to_user()
    named = _named_in(table, question) if table else set()
    found = {n: value for n, value in known.items() if _words(n) & meant or n in named}
    if not found or len(found) > MAX_FACTS:
        return str(table.frames["unknown"]) if table else UNKNOWN
    if table is None:
        return " ".join(f"The {n.replace('_', ' ')} is {value}." for n, value in found.items())
    return " ".join(
        table.frames["reply"].format(name=table.names.get(n, n), value=figures_in(spoken, value))
        for n, value in found.items()
    )


def _named_in(table: Sentences, question: str) -> set[str]:
    """The parameters that a question in another language is about."""
    text = question.casefold()
    named = {name for name, called in table.names.items() if _has(text, called.casefold())}
    return named.union(*(names for word, names in table.asked.items() if _has(text, word)))


def _has(text: str, word: str) -> bool:
    """Whole words; in a script without spaces, wherever it stands."""
    if any("\u4e00" <= sign <= "\u9fff" for sign in word):
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _words(text: str) -> set[str]:
    """The words, small, in the singular as far as an s makes it."""
    words = re.findall(r"[a-z]+", text.casefold().replace("_", " "))
    return {word.removesuffix("s") if len(word) > 3 else word for word in words}
