"""Instructions for phones whose language is not English.

The sentences are in `languages/*/instructions.toml`: for a template under its name, for the parts
of cross-app tasks under their class names, with frames that join them. A template without sentences
stays English, and so does every task on an English phone. Only the wording differs: parameters,
judges, splits and ids are the same. Names, titles and messages are not translated, because the
phone shows them as they are. Settings are called what the phone calls them; days and amounts are
written as people say them.
"""

from __future__ import annotations

import dataclasses
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from phonesim.languages.language import FOLDERS, Language
from phonesim.languages.translations import figures_in
from phonesim.tasks.domains import domain_of
from phonesim.tasks.everyday.parts import Act, Choice, CrossApp, Part, Source, capital
from phonesim.tasks.everyday.two_hops import TwoHops, takes_found
from phonesim.tasks.template import Template

SHOWN = frozenset(  # domains of labels: translated as the phone shows them
    {
        "chat privacy", "feed switches", "food switches", "travel switches", "reasons to report",
        "complaints",
    }
)  # fmt: skip
SAID = frozenset({"days", "forecast days", "seconds", "stars", "audiences"})  # by the table `said`
PAID = frozenset({"amounts", "large amounts", "tips", "card limits", "code limits", "balances"})


@dataclass(frozen=True, slots=True)
class Sentences:
    """The tables of one language's `instructions.toml`."""

    phrasings: Mapping[str, Sequence[str]]
    nouns: Mapping[str, Sequence[str]]  # of sources
    orders: Mapping[str, Sequence[str]]  # of acts, with {it}
    clauses: Mapping[str, Sequence[str]]  # of conditions
    pronouns: Mapping[str, str]
    frames: Mapping[str, Any]
    said: Mapping[str, str]
    names: Mapping[str, str]  # of parameters, in the user's replies
    asked: Mapping[str, Sequence[str]]  # the parameters that a word of a question may mean


@cache
def sentences(name: str) -> Sentences | None:
    """Return the sentences of a language; None if it has none."""
    folder = FOLDERS.get(name, FOLDERS["English"])
    path = files("phonesim.languages").joinpath(folder, "instructions.toml")
    return Sentences(**tomllib.loads(path.read_text("utf-8"))) if path.is_file() else None


def instruction_in(task: Template, spoken: Language, rng: random.Random) -> str | None:
    """Return the task's instruction in that language; None if it has no sentences there."""
    found = phrasings_in(type(task), spoken.name)
    if not found:
        return None
    return capital(rng.choice(found).format(**_words_in(task, spoken)))


def phrasings_in(template: type[Template], name: str) -> tuple[str, ...]:
    """Return the phrasings of a template in a language; none if one of its parts has none."""
    table = sentences(name)
    if table is None:
        return ()
    if issubclass(template, CrossApp):
        return _across(table, template.source, template.acts)
    if issubclass(template, TwoHops):
        return _hops(table, template)
    if issubclass(template, Choice):
        return _choice(table, template.condition, *template.acts)
    return tuple(table.phrasings.get(template.name, ()))


def _across(table: Sentences, source: type[Source], acts: Sequence[type[Act]]) -> tuple[str, ...]:
    nouns = _of(table.nouns, source)
    orders = [_of(table.orders, act) for act in acts]
    if not nouns or not all(orders):
        return ()
    it, (first, *rest) = table.pronouns[source.gives], orders
    later, after = table.frames["later"], table.frames["after"]
    parts = {
        "Now": capital(_fill(first[0], it=nouns[0])),
        "other": _fill(first[-1], it=nouns[-1]),
        "noun": nouns[-1],
        "first_noun": nouns[0],
        "then": _fill(first[-1], it=it),
        "soon": _fill(first[0], it=it),
        "later": "".join(_fill(later, order=_fill(order[0], it=it)) for order in rest),
        "after": "".join(_fill(after, order=_fill(order[-1], it=it)) for order in rest),
    }
    return tuple(_fill(frame, **parts) for frame in table.frames["across"])


def _hops(table: Sentences, template: type[TwoHops]) -> tuple[str, ...]:
    first, second = _of(table.nouns, template.source), _of(table.nouns, template.lookup)
    orders = [_of(table.orders, act) for act in template.acts]
    if not first or not second or not all(orders):
        return ()
    found = [takes_found(template, act) for act in template.acts]
    its = [table.pronouns[(template.source if f else template.lookup).gives] for f in found]
    done = list(zip(orders, its, strict=True))
    later, after = table.frames["later"], table.frames["after"]
    parts = {
        "first": first[0],
        "other_first": first[-1],
        "second": second[0],
        "other_second": second[-1],
        "later": "".join(_fill(later, order=_fill(order[0], it=it)) for order, it in done),
        "after": "".join(_fill(after, order=_fill(order[-1], it=it)) for order, it in done),
    }
    return tuple(_fill(frame, **parts) for frame in table.frames["hops"])


def _choice(
    table: Sentences, condition: type[Part], then: type[Act], otherwise: type[Act]
) -> tuple[str, ...]:
    clauses, yes = _of(table.clauses, condition), _of(table.orders, then)
    no = _of(table.orders, otherwise)
    if not (clauses and yes and no):
        return ()
    parts = {
        "clause": clauses[0], "other_clause": clauses[-1], "Yes": capital(yes[0]), "yes": yes[0],
        "other_yes": yes[-1], "no": no[0], "other_no": no[-1],
    }  # fmt: skip
    return tuple(_fill(frame, **parts) for frame in table.frames["choice"])


def _of(table: Mapping[str, Sequence[str]], part: type[Part]) -> Sequence[str]:
    return table.get(part.__name__, ())


def _fill(pattern: str, **parts: str) -> str:
    """Fill the named placeholders once; leave the others, also those inside inserted texts."""
    return re.sub(r"\{(\w+)\}", lambda hole: parts.get(hole[1], hole[0]), pattern)


def _words_in(task: Template, spoken: Language) -> dict[str, str]:
    """Return the placeholders' texts. Words that are no field (`when`, `on_day`) are days."""
    fields = dataclasses.fields(task)  # type: ignore[arg-type]
    domains = {field.name: domain_of(field).name for field in fields}
    words = task.words()
    return {word: _said(words[word], domains.get(word, "days"), spoken) for word in words}


def _said(text: str, domain: str, spoken: Language) -> str:
    table = sentences(spoken.name)
    if table is not None and domain in SAID:
        return table.said.get(text, text)
    if domain in SHOWN:
        return spoken.tr(text)
    return figures_in(spoken, text) if domain in PAID else text


def characters_of(spoken: Language) -> frozenset[str]:
    """Return the characters of a language's instructions, apart from those of parameters."""
    table = sentences(spoken.name)
    if table is None:
        return frozenset()
    parts = (table.phrasings, table.nouns, table.orders, table.clauses, table.frames)
    texts = [text for part in parts for many in part.values() for text in many]
    return frozenset(
        "".join([*texts, *table.pronouns.values(), *table.said.values(), *spoken.words.values()])
    )
