"""World events of the everyday apps: chat messages, money requests, news of trips and meals.

Part of `world`, for phones that have these apps. Messages and requests come from groups and clubs
that no task is about. News of a trip change nothing that was booked. A meal's state follows from
the phone's clock; only its notifications are made here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from phonesim.arrivals import Event, arrive, is_offline, move, notify, tick
from phonesim.contents.everyday.journeys import MEANS_OF, TravelSettings, Trip
from phonesim.contents.everyday.meals import (
    MINUTES_PER_STATE,
    STATES,
    FoodOrder,
    FoodSettings,
    state_of,
)
from phonesim.contents.everyday.money import MoneyRequest, WalletSettings, money
from phonesim.contents.everyday.news import (
    ASKERS,
    CHATTER,
    COMMENTS,
    GATE,
    LATE,
    PLATFORM,
    TripNews,
    news_words,
)
from phonesim.contents.everyday.posts import (
    ME,
    ONLY_ME,
    Comment,
    FeedSettings,
    Following,
    Post,
)
from phonesim.contents.everyday.threads import (
    BlockedChatter,
    ChatMessage,
    ChatSettings,
    ChatThread,
    UnreadThread,
    thread_with,
)
from phonesim.contents.small_talk import REPLIES
from phonesim.state import Due

if TYPE_CHECKING:
    from phonesim.phone import Phone


def installed(phone: Phone) -> bool:
    """Return whether the phone has these apps, which are installed together with their facts."""
    return bool(phone.facts.all(ChatSettings))


# What is due --------------------------------------------------------------------------------------


def due(phone: Phone, before: datetime) -> Iterator[Due]:
    """Yield the state changes of meals since `before`."""
    for order in phone.facts.where(FoodOrder, lambda each: not each.cancelled):
        for step in range(1, len(STATES)):
            reached = order.time + timedelta(minutes=step * MINUTES_PER_STATE)
            if before < reached <= phone.now:
                yield reached, "meal", order.id


def await_replies(phone: Phone, before: datetime) -> None:
    """Schedule replies, 20 to 60 seconds from now, to messages sent at `before`."""
    sent = phone.facts.where(ChatMessage, lambda each: each.sender == ME and each.time == before)
    for message in sent:
        wait = 20 + 40 * phone.uniform("chat reply after", message.thread, tick(phone.now))
        reply = (phone.now + timedelta(seconds=round(wait)), "chat_reply", message.thread)
        phone.update(due=(*phone.state.due, reply))


def _reply(phone: Phone, thread_id: int) -> None:
    thread = phone.facts.find(ChatThread, lambda each: each.id == thread_id)
    if thread is None or not thread.members or is_offline(phone):
        return
    share = phone.uniform("chat reply", thread_id, tick(phone.now))
    speaker = thread.members[int(share * len(thread.members))]
    if phone.facts.find(BlockedChatter, lambda each: each.person == speaker):
        return
    which = phone.uniform("chat words", thread_id, tick(phone.now))
    _say(phone, thread, speaker, phone.language.tr(REPLIES[int(which * len(REPLIES))]))


def _tell_of_meal(phone: Phone, order_id: int) -> None:
    order = phone.facts.find(FoodOrder, lambda each: each.id == order_id)
    if order is not None and phone.facts.one(FoodSettings).order_alerts and not is_offline(phone):
        state = phone.language.tr(state_of(order, phone.now))
        notify(phone, "Food", order.restaurant, state)


WHEN_DUE: dict[str, Callable[[Phone, int], None]] = {"chat_reply": _reply, "meal": _tell_of_meal}


# What comes ---------------------------------------------------------------------------------------


def _say(phone: Phone, thread: ChatThread, speaker: str, text: str) -> None:
    """Add a message to a thread; unless that is open, mark it unread and notify the user."""
    arrive(phone, ChatMessage(0, thread.id, speaker, text, phone.now))
    top = phone.routes[-1]
    if (phone.state.front, top.page, top.args) == ("Chat", "thread", (thread.id,)):
        return
    if phone.facts.find(UnreadThread, lambda mark: mark.thread == thread.id) is None:
        arrive(phone, UnreadThread(thread=thread.id))
    if not thread.muted:
        shown = f"{speaker}: {text}" if thread.group else text
        previews = phone.facts.one(ChatSettings).previews
        notify(phone, "Chat", thread.title, shown if previews else phone.language.tr("New message"))


def _talk(phone: Phone, rng: random.Random) -> None:
    """Add a message to a group."""
    said = rng.choice(CHATTER)
    if is_offline(phone):
        return
    speakers = tuple(dict.fromkeys(each.sender for each in CHATTER if each.group == said.group))
    thread = thread_with(phone.facts, said.group) or arrive(
        phone, ChatThread(title=said.group, members=speakers, group=True)
    )
    _say(phone, thread, said.sender, phone.language.tr(said.text))


def _ask(phone: Phone, rng: random.Random) -> None:
    """Add a club's request for money, unless one of its requests is still open."""
    asker, cents = rng.choice(ASKERS), rng.randrange(2_00, 25_00, 50)
    waits = phone.facts.find(MoneyRequest, lambda each: each.person == asker.name)
    if waits or is_offline(phone):
        return
    tr = phone.language.tr
    request = MoneyRequest(person=asker.name, cents=cents, note=tr(asker.note))
    arrive(phone, request)
    if phone.facts.one(WalletSettings).payment_alerts:
        amount = money(cents, phone.language)
        words = tr("Asks you for {amount}: {note}", amount=amount, note=request.note)
        notify(phone, "Wallet", asker.name, words)


def _tell_of_trip(phone: Phone, rng: random.Random) -> None:
    """Add or change news of the next trip: its gate or platform, or a delay."""
    trips = phone.facts.where(Trip, lambda each: not each.cancelled and each.depart > phone.now)
    if not trips or is_offline(phone):
        return
    trip = min(trips, key=lambda each: (each.depart, each.id))
    place = GATE if MEANS_OF.get(trip.operator) == "air" else PLATFORM
    about = rng.choice((place, LATE))
    number = rng.randrange(5, 45, 5) if about == LATE else rng.randrange(1, 25)
    known = phone.facts.find(TripNews, lambda each: (each.trip, each.about) == (trip.id, about))
    if known:
        move(phone, known, number=number)
    else:
        known = arrive(phone, TripNews(trip=trip.id, about=about, number=number))
    if phone.facts.one(TravelSettings).delay_alerts:
        words = news_words(phone.facts.get(TripNews, known.id), phone.language)
        notify(phone, "Travel", f"{trip.origin} – {trip.destination}", words)


def _comment(phone: Phone, rng: random.Random) -> None:
    """Add a comment on the user's newest post by somebody whom the user follows."""
    settings = phone.facts.one(FeedSettings)
    own = phone.facts.where(Post, lambda each: each.author == ME and each.audience != ONLY_ME)
    people = [each.person for each in phone.facts.all(Following)]
    open_to_all = settings.active and settings.comments_allowed
    if not own or not people or not open_to_all or is_offline(phone):
        return
    person, words = rng.choice(people), phone.language.tr(rng.choice(COMMENTS))
    post = max(own, key=lambda each: (each.time, each.id))
    arrive(phone, Comment(post=post.id, author=person, text=words))
    if settings.mentions:
        notify(phone, "Feed", person, phone.language.tr("Commented: {words}", words=words))


EVENTS: tuple[Event, ...] = (_talk, _talk, _talk, _ask, _tell_of_trip, _comment)
