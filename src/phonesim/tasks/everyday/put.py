"""Helpers for everyday tasks: adding records to a phone, moves, and checks for a single change.

Each check returns in words what is wrong, or None if nothing is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import timedelta

from phonesim.contents.everyday.journeys import (
    Connection,
    TravelSettings,
    Trip,
    connections,
    trip_of,
)
from phonesim.contents.everyday.money import (
    BILLERS,
    REASONS,
    Account,
    Bill,
    Transfer,
    WalletSettings,
    confirmation_code,
    reference,
)
from phonesim.contents.everyday.posts import ME as FEED_ME
from phonesim.contents.everyday.posts import Post, topic_of
from phonesim.contents.everyday.threads import (
    ME,
    ChatMessage,
    ChatThread,
    UnreadThread,
    open_thread,
    thread_with,
)
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain
from phonesim.tasks.general.days import SaidDay, pick
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.people import known
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press, PullShade
from phonesim.tasks.template import View, added, changed, differing_fields, removed

COMPANIES = Domain("companies that send bills", BILLERS)
AMOUNTS = Domain(
    "amounts",
    (
        7_50, 9_00, 12_00, 12_50, 15_00, 18_20, 21_40, 24_00, 27_30, 31_00, 33_60, 36_00, 38_50,
        41_00, 44_80, 48_00,
    ),
    say=lambda cents: f"${cents // 100}.{cents % 100:02}",
)  # fmt: skip
LARGE_AMOUNTS = Domain(
    "large amounts",
    (55_00, 62_40, 68_00, 74_50, 80_00, 87_90, 95_00, 110_00, 125_50, 140_00, 165_00, 180_00),
    say=lambda cents: f"${cents // 100}.{cents % 100:02}",
)
NOTES = Domain("payment notes", REASONS)


# Money -------------------------------------------------------------------------------------------


def put_bill(facts: Facts, rng: random.Random, company: str) -> Bill:
    """Add an open bill of that company; make sure that another company has one, too."""
    facts.remove_where(Bill, lambda bill: bill.company == company)
    due = facts.all(Bill)[0].due + timedelta(days=rng.randrange(2, 9))
    rivals = [other for other in BILLERS if other != company]
    if not any(not bill.paid for bill in facts.all(Bill)):
        facts.add(Bill(0, rng.choice(rivals), rng.randrange(9_00, 48_00, 5), due, reference(rng)))
    return facts.add(Bill(0, company, rng.randrange(9_00, 48_00, 5), due, reference(rng)))


def bill_of(view: View, company: str) -> Bill:
    return next(b for b in view.all(Bill) if b.company == company and not b.paid)


def not_paid(
    start: View, end: View, person: str, cents: int, fits: Callable[[str], bool] = lambda note: True
) -> str | None:
    """Check that exactly this payment was made and that the balance fell by this amount."""
    wrong = only_added(start, end, Transfer, person=person, cents=cents, reported=False)
    if wrong:
        return wrong
    (new,) = added(start, end, Transfer)
    if not fits(new.note):
        return f"the note of the payment is {new.note!r}"
    before, after = start.one(Account), end.one(Account)
    if before.balance_cents - after.balance_cents != cents:
        return f"the balance went from {before.balance_cents} to {after.balance_cents} cents"
    beside = differing_fields(before, after) - {"balance_cents"}
    return f"changed as well: {', '.join(sorted(beside))} of the account" if beside else None


def send_money(start: View, person: str, cents: int, note: str = "") -> Iterable[Move]:
    """Yield the moves from anywhere to the receipt, with the code if one is needed."""
    yield Open("Wallet")
    yield Press("Send", role="button")
    yield Fill("Search people", person)
    yield Press(person, role="row")
    yield Fill("Amount", f"{cents // 100}.{cents % 100:02}")
    if note:
        yield Fill("Note", note)
    yield Press("Continue")
    yield Press("Send money")
    if cents > start.one(WalletSettings).code_above_cents:
        yield PullShade()
        yield GoBack()
        yield Fill("Confirmation code", confirmation_code(start.one(Account), person, cents))
        yield Press("Confirm")


# Chats -------------------------------------------------------------------------------------------


def chatted(facts: Facts, rng: random.Random, person: str, text: str) -> ChatThread:
    """Add a message of that person in Chat, newer than all others; return its thread."""
    known(facts, person, rng)
    newest = max(message.time for message in facts.all(ChatMessage))
    thread = open_thread(facts, person)
    facts.add(ChatMessage(0, thread.id, person, text, newest + timedelta(minutes=2)))
    facts.add(UnreadThread(thread=thread.id))
    return thread


def put_chat(facts: Facts, rng: random.Random, person: str) -> None:
    """Make sure that the person is a contact; add a chat thread with probability 0.7."""
    known(facts, person, rng)
    if rng.random() < 0.7 and thread_with(facts, person) is None:
        chatted(facts, rng, person, rng.choice(("Hello!", "How are you?", "Long time no see")))


def open_chat(start: View, person: str) -> Iterable[Move]:
    """Yield the moves from anywhere to the thread with a person."""
    yield Open("Chat")
    if thread_with(start.facts, person):
        yield Press(person, role="row")
    else:
        yield Press("New chat", role="button")
        yield Fill("Search people", person)
        yield Press(person, role="row")


def wrong_chat(start: View, end: View, title: str) -> str | ChatMessage:
    """Return our one new message if it is in the thread of that title; else what is wrong."""
    wrong = only_added(start, end, ChatMessage, sender=ME)
    if wrong:
        return wrong
    (new,) = added(start, end, ChatMessage)
    thread = thread_with(end.facts, title)
    if thread is None or new.thread != thread.id:
        return "the message went to somebody else"
    begun = [other for other in added(start, end, ChatThread) if other.id != thread.id]
    if begun or removed(start, end, ChatThread) or changed(start, end, ChatThread):
        return "another chat was changed"
    return new


# Journeys ----------------------------------------------------------------------------------------


def put_trip(facts: Facts, rng: random.Random, city: str) -> Trip:
    """Add a trip to that city in the next weeks; remove all other trips there."""
    settings = facts.one(TravelSettings)
    if settings.home_city == city:
        facts.edit(settings, home_city="Prague" if city != "Prague" else "Vienna")
        settings = facts.one(TravelSettings)
    facts.remove_where(Trip, lambda trip: trip.destination == city)
    today = max(message.time for message in facts.all(ChatMessage)).date()
    day = today + timedelta(days=rng.randrange(4, 20))
    chosen = rng.choice(connections(settings.seed, settings.home_city, city, day))
    return facts.add(trip_of(chosen, settings, "Me"))


def trip_to(view: View, city: str) -> Trip:
    return next(trip for trip in view.all(Trip) if trip.destination == city)


def open_trip(start: View, city: str) -> Iterable[Move]:
    trip = trip_to(start, city)
    yield Open("Travel")
    yield Press("My trips")
    yield Press(f"{trip.origin} – {trip.destination}", role="row")


def not_from(facts: Facts, city: str) -> None:
    """Make sure that the home city is another one."""
    settings = facts.one(TravelSettings)
    if settings.home_city == city:
        facts.edit(settings, home_city="Prague" if city != "Prague" else "Vienna")


def running(view: View, city: str, day: SaidDay) -> tuple[Connection, ...]:
    settings = view.one(TravelSettings)
    return connections(settings.seed, settings.home_city, city, day.after(view.now.date()))


def search_trips(start: View, city: str, day: SaidDay) -> Iterable[Move]:
    """Yield the moves from anywhere to the search results."""
    today = start.now.date()
    yield Open("Travel")
    yield Fill("To", city)
    yield Press("Day", role="row")
    yield from pick(day.after(today), today + timedelta(days=1))
    yield Press("Search trips")


# Posts -------------------------------------------------------------------------------------------


def put_post(facts: Facts, rng: random.Random, author: str, text: str, **fields: object) -> Post:
    """Add a post, newer than all others; its author is a contact; remove others with its text."""
    if author != FEED_ME:
        known(facts, author, rng)
    facts.remove_where(Post, lambda post: post.text == text)
    newest = max(post.time for post in facts.all(Post))
    time, likes = newest + timedelta(minutes=2), rng.randrange(3, 400)
    post = facts.add(Post(0, author, text, topic_of(text, rng), "", time, likes))
    facts.edit(post, **fields)
    return facts.get(Post, post.id)


def post_saying(view: View, text: str) -> Post:
    return next(post for post in view.all(Post) if post.text == text)


def open_post(text: str) -> Iterable[Move]:
    yield Open("Feed")
    yield Press("Search", role="button")
    yield Fill("Search Feed", text)
    yield Press(text, role="row")
