"""The simulated user: answers the agent's questions from the parameters of the task, by rules.

The user knows the parameters by their names (`title`, `recipient`, `time`), as the instruction says
them; a template can override what is known (`Template.known_to_user`). A question that names one or
two of them is answered with their values. One that names none, or more, is answered with a request
to look it up: asking about everything at once is no way around reading the instruction.

On a phone in another language, if the task has sentences in it (`instructions`), the user
understands questions in that language as well as in English, and replies in that language.
"""

from __future__ import annotations

import re

from phonesim.languages.language import Language, language
from phonesim.languages.translations import figures_in
from phonesim.tasks.instructions import Sentences, phrasings_in, sentences
from phonesim.tasks.template import Template

MAX_QUESTION = 400  # characters; the rest of a question is ignored
MAX_FACTS = 2  # parameters that one reply may give
UNKNOWN = "I do not know. Please look it up on the phone."
ALSO = {  # words of a question: the parameters that they may mean
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
    """Return the user's reply to a question about a task; in English unless `spoken` is given."""
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
    """Return the parameters that a question in another language names."""
    text = question.casefold()
    named = {name for name, called in table.names.items() if _has(text, called.casefold())}
    return named.union(*(names for word, names in table.asked.items() if _has(text, word)))


def _has(text: str, word: str) -> bool:
    """Return whether the text has this whole word; Chinese words match anywhere."""
    if any("\u4e00" <= sign <= "\u9fff" for sign in word):
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _words(text: str) -> set[str]:
    """Return the words, casefolded, without a plural s."""
    words = re.findall(r"[a-z]+", text.casefold().replace("_", " "))
    return {word.removesuffix("s") if len(word) > 3 else word for word in words}
