"""A user who can be asked: replies from what the task is about, and from nothing else.

The user knows the parameters of the task by their names (`title`, `recipient`, `time`), as the
instruction says them, and more where a template says so (`Template.known_to_user`). A question that
names some of them is answered with those, one that names none with a plea to look again: asking
about everything at once is no way around reading the instruction.
"""

from __future__ import annotations

import re

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


def reply_of(template: Template, question: str) -> str:
    """The user's reply to a question about a task."""
    asked = _words(question[:MAX_QUESTION])
    meant = asked.union(*(ALSO.get(word, ()) for word in asked))
    known = template.known_to_user()
    found = {name: value for name, value in known.items() if _words(name) & meant}
    if not found or len(found) > MAX_FACTS:
        return UNKNOWN
    return " ".join(f"The {name.replace('_', ' ')} is {value}." for name, value in found.items())


def _words(text: str) -> set[str]:
    """The words, small, in the singular as far as an s makes it."""
    words = re.findall(r"[a-z]+", text.casefold().replace("_", " "))
    return {word.removesuffix("s") if len(word) > 3 else word for word in words}
