"""What is done with a value that was found: tell it, write it down, pay it, plan with it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time

from phonesim.apps.mail import Mail
from phonesim.apps.notes import Note
from phonesim.apps.weather import SavedCity
from phonesim.contents.calendar_events import CalendarEvent, at
from phonesim.contents.calls import Call
from phonesim.contents.conversations import Conversation, Message
from phonesim.contents.everyday.journeys import Trip, WatchedRoute
from phonesim.contents.everyday.money import (
    POTS,
    Account,
    Bill,
    MoneyRequest,
    SavingsPot,
    Transfer,
    money,
)
from phonesim.contents.everyday.posts import EVERYBODY, Following, Post
from phonesim.contents.everyday.posts import ME as FEED_ME
from phonesim.contents.everyday.threads import ChatMessage, ChatThread
from phonesim.contents.timepieces import Alarm
from phonesim.contents.todo_items import TodoItem
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.everyday_sources import GROUP_NAMES
from phonesim.tasks.everyday.parts import Act, Cents, Value, says, text_of
from phonesim.tasks.everyday.put import (
    AMOUNTS,
    bill_of,
    chatted,
    not_paid,
    open_chat,
    put_chat,
    running,
    search_trips,
    send_money,
    wrong_chat,
)
from phonesim.tasks.general.alarms import choose_time as choose_alarm_time
from phonesim.tasks.general.alarms import new_alarm_missing
from phonesim.tasks.general.calendar import EVENTS, TIMES, choose_time
from phonesim.tasks.general.calls import not_called
from phonesim.tasks.general.chats import talk_to, wrong_message
from phonesim.tasks.general.days import DAYS, SaidDay, pick
from phonesim.tasks.general.differences import only_added, only_changed
from phonesim.tasks.general.mailbox import SUBJECTS, sent_mail
from phonesim.tasks.general.notes import TITLES
from phonesim.tasks.general.people import NAMES, TEXTS, contact_named, known
from phonesim.tasks.general.todo import LISTS, ensure_list, list_called
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import View, added

POT_NAMES = Domain("savings pots", POTS)
SPARE_TITLES = Domain(
    "notes to keep things in",
    (
        "Not to forget", "Looked up", "For later", "Found out", "Keep this", "Important",
        "From the phone", "Memo", "Today's finds", "Facts",
    ),
)  # fmt: skip


def _unsaid(text: str, value: Value) -> str | None:
    return None if says(text, value) else f"{text!r} does not say {text_of(value)!r}"


# Tell it -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TellChat(Act):
    app, steps = "Chat", 4
    orders = ("send {it} to {recipient} in Chat", "write {it} to {recipient} in Chat")
    touches = (ChatMessage, ChatThread)
    recipient: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_chat(facts, rng, self.recipient)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        new = wrong_chat(start, end, self.recipient)
        return new if isinstance(new, str) else _unsaid(new.text, value)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield from open_chat(start, self.recipient)
        yield Fill("Message", text_of(value))
        yield Press("Send", role="button")


@dataclass(frozen=True)
class TellChatCorrected(TellChat):
    """The first name was a slip of the tongue."""

    orders = (
        "send {it} to {slip} in Chat. No, wait, not to {slip}: to {recipient}",
        "write {it} to {slip} in Chat. Sorry, I meant to {recipient}, not to {slip}",
    )
    slip: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_chat(facts, rng, self.slip)
        put_chat(facts, rng, self.recipient)


@dataclass(frozen=True)
class TellGroup(Act):
    app, steps = "Chat", 4
    orders = (
        'send {it} to the Chat group "{told_group}"',
        'write {it} into the group "{told_group}" in Chat',
    )
    touches = (ChatMessage, ChatThread)
    told_group: str = parameter(GROUP_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        if not facts.find(ChatThread, lambda thread: thread.title == self.told_group):
            members = tuple(rng.sample([t.title for t in facts.all(ChatThread) if not t.group], 3))
            thread = facts.add(ChatThread(title=self.told_group, members=members, group=True))
            newest = max(message.time for message in facts.all(ChatMessage))
            facts.add(ChatMessage(0, thread.id, members[0], "Hello everybody", newest))

    def missing(self, start: View, end: View, value: Value) -> str | None:
        new = wrong_chat(start, end, self.told_group)
        return new if isinstance(new, str) else _unsaid(new.text, value)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.told_group, role="row")
        yield Fill("Message", text_of(value))
        yield Press("Send", role="button")


@dataclass(frozen=True)
class TextIt(Act):
    app, steps = "Messages", 4
    orders = ("text {it} to {texted}", "send {texted} a text message with {it}")
    touches = (Message, Conversation)
    texted: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        talk_to(facts, self.texted, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        new = wrong_message(start, end, contact_named(start, self.texted).phone)
        return new if isinstance(new, str) else _unsaid(new.text, value)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self.texted, role="row")
        yield Fill("Text message", text_of(value))
        yield Press("Send", role="button")


@dataclass(frozen=True)
class MailIt(Act):
    app, steps = "Mail", 8
    orders = (
        'mail {it} to {addressee} under the subject "{subject}"',
        'write {addressee} a mail with the subject "{subject}" that says {it}',
    )
    touches = (Mail,)
    addressee: str = parameter(NAMES)
    subject: str = parameter(SUBJECTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.addressee, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        mail = sent_mail(start, end, contact_named(start, self.addressee).email)
        if isinstance(mail, str):
            return mail
        if not same_text(mail.subject, self.subject):
            return f"the subject is {mail.subject!r}"
        return _unsaid(mail.body, value)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Mail")
        yield Press("Compose")
        yield Fill("To", contact_named(start, self.addressee).email)
        yield Fill("Subject", self.subject)
        yield Fill("Message", text_of(value))
        yield Press("Send", role="button")


@dataclass(frozen=True)
class PostIt(Act):
    app, steps = "Feed", 4
    orders = ("post {it} in Feed for everybody", "share {it} with everybody in Feed")
    touches = (Post,)
    high_stakes = True

    def missing(self, start: View, end: View, value: Value) -> str | None:
        wrong = only_added(start, end, Post, author=FEED_ME, audience=EVERYBODY)
        return wrong or _unsaid(added(start, end, Post)[0].text, value)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("New post")
        yield Fill("What is on your mind?", text_of(value))
        yield Press("Post", role="button")


# Write it down -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoteIt(Act):
    app, steps = "Notes", 6
    orders = (
        'put {it} into a new note called "{title}"',
        'make a note "{title}" and write {it} in it',
    )
    touches = (Note,)
    title: str = parameter(SPARE_TITLES)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        wrong = only_added(start, end, Note, title=self.title)
        return wrong or _unsaid(added(start, end, Note)[0].text, value)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.title)
        yield Fill("Text", text_of(value))
        yield Press("Save", role="button")


@dataclass(frozen=True)
class ListIt(Act):
    app, steps = "To-do", 5
    orders = (
        "put {it} on my {todo_list} list in To-do",
        "add {it} to the list {todo_list} in To-do",
    )
    touches = (TodoItem,)
    todo_list: str = parameter(LISTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        ensure_list(facts, rng, self.todo_list)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        place = list_called(start, self.todo_list).id
        wrong = only_added(start, end, TodoItem, list_id=place, done=False)
        return wrong or _unsaid(added(start, end, TodoItem)[0].title, value)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("To-do")
        yield Press(self.todo_list)
        yield Press("New item")
        yield Fill("What is to be done?", text_of(value))
        yield Press("Save", role="button")


# Plan with it ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WakeAtIt(Act):
    app, steps, takes = "Clock", 4, ("time",)
    orders = ("set an alarm for {it}", "let an alarm ring at {it}")
    touches = (Alarm,)

    def _time(self, value: Value) -> tuple[int, int]:
        assert isinstance(value, time)
        return value.hour, value.minute

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        for alarm in facts.all(Alarm)[3:]:
            facts.remove(alarm)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return new_alarm_missing(start, end, self._time(value), "", ())

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Add alarm")
        yield from choose_alarm_time(start, self._time(value))
        yield Press("Save", role="button")


@dataclass(frozen=True)
class PlanAtIt(Act):
    app, steps, takes = "Calendar", 9, ("time",)
    orders = (
        'put "{occasion}" into my calendar {when} at {it}',
        'add "{occasion}" to Calendar for {planned_day} at {it}',
    )
    touches = (CalendarEvent,)
    occasion: str = parameter(EVENTS)
    planned_day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.planned_day.when}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(CalendarEvent, lambda event: event.title == self.occasion)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, time)
        day = self.planned_day.after(start.now.date())
        wanted = at(day, value.hour, value.minute)
        return only_added(start, end, CalendarEvent, title=self.occasion, start=wanted)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        assert isinstance(value, time)
        today = start.now.date()
        yield Open("Calendar")
        yield Press("New event")
        yield Fill("Title", self.occasion)
        yield Press("Day")
        yield from pick(self.planned_day.after(today), today)
        yield from choose_time(start, value)
        yield Press("Save", role="button")


@dataclass(frozen=True)
class PlanOnIt(Act):
    app, steps, takes = "Calendar", 9, ("day",)
    orders = (
        'put "{occasion}" into my calendar for {it} at {moment}',
        'add "{occasion}" to Calendar on {it}, {moment}',
    )
    touches = (CalendarEvent,)
    occasion: str = parameter(EVENTS)
    moment: time = parameter(TIMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(CalendarEvent, lambda event: event.title == self.occasion)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, date)
        wanted = at(value, self.moment.hour, self.moment.minute)
        return only_added(start, end, CalendarEvent, title=self.occasion, start=wanted)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        assert isinstance(value, date)
        yield Open("Calendar")
        yield Press("New event")
        yield Fill("Title", self.occasion)
        yield Press("Day")
        yield from pick(value, start.now.date())
        yield from choose_time(start, self.moment)
        yield Press("Save", role="button")


# Go there ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BookThere(Act):
    app, steps, takes = "Travel", 10, ("city",)
    orders = (
        "book the cheapest trip to {it} {trip_when} in Travel",
        "get me the cheapest ticket to {it} {trip_when} with Travel",
    )
    touches = (Trip, Transfer, Account)
    high_stakes = True
    trip_day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "trip_when": self.trip_day.when}

    def missing(self, start: View, end: View, value: Value) -> str | None:
        best = min(running(start, str(value), self.trip_day), key=lambda each: each.cents)
        wrong = only_added(
            start, end, Trip, origin=best.origin, destination=best.destination,
            depart=best.depart, cents=best.cents, traveller="Me", cancelled=False,
        )  # fmt: skip
        return wrong or not_paid(start, end, best.operator, best.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        best = min(running(start, str(value), self.trip_day), key=lambda each: each.cents)
        yield from search_trips(start, str(value), self.trip_day)
        yield Press("Earliest", role="button")
        yield Press("Cheapest", role="row")
        yield Press(money(best.cents), role="row")
        yield Press("Book")
        yield Press(f"Pay {money(best.cents)}")


@dataclass(frozen=True)
class WatchThere(Act):
    app, steps, takes = "Travel", 4, ("city",)
    orders = (
        "watch the prices of trips to {it} in Travel",
        "let Travel watch the route to {it}",
    )
    touches = (WatchedRoute,)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, WatchedRoute, destination=str(value))

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Travel")
        yield Fill("To", str(value))
        yield Press("Search trips")
        yield Press("Watch this route")


@dataclass(frozen=True)
class AddWeatherThere(Act):
    app, steps, takes = "Weather", 4, ("city",)
    orders = (
        "add {it} to the cities in Weather",
        "put {it} on my list in the weather app",
    )
    touches = (SavedCity,)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(SavedCity, lambda city: True)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, SavedCity, name=str(value))

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Weather")
        yield Press("Add city")
        yield Fill("Search city", str(value))
        yield Press(str(value), "row")


# Pay it ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SendIt(Act):
    app, steps, takes = "Wallet", 8, ("cents",)
    orders = ("send {it} to {paid} with Wallet", "pay {paid} {it} from my wallet")
    touches = (Account, Transfer)
    high_stakes = True
    paid: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.paid, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        return not_paid(start, end, self.paid, value.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        assert isinstance(value, Cents)
        return send_money(start, self.paid, value.cents)


@dataclass(frozen=True)
class AskForIt(Act):
    app, steps, takes = "Wallet", 7, ("cents",)
    orders = ("request {it} from {debtor} in Wallet", "ask {debtor} for {it} with Wallet")
    touches = (MoneyRequest,)
    debtor: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.debtor, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        wanted = {"person": self.debtor, "cents": value.cents, "ours": True}
        return only_added(start, end, MoneyRequest, **wanted)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Request", role="button")
        yield Fill("Search people", self.debtor)
        yield Press(self.debtor, role="row")
        yield Fill("Amount", text_of(value))
        yield Press("Send request")


@dataclass(frozen=True)
class PutItAside(Act):
    app, steps, takes = "Wallet", 5, ("cents",)
    orders = (
        'put {it} into my savings pot "{pot}" in Wallet',
        'set {it} aside for "{pot}" under Savings in Wallet',
    )
    touches = (Account, SavingsPot)
    pot: str = parameter(POT_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        if not facts.find(SavingsPot, lambda pot: pot.name == self.pot):
            facts.add(SavingsPot(0, self.pot, rng.randrange(20_00, 90_00, 5_00), 400_00))

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        pot = next(each for each in start.all(SavingsPot) if each.name == self.pot)
        wrong = only_changed(start, end, SavingsPot, pot.id, cents=pot.cents + value.cents)
        account = start.one(Account)
        left = account.balance_cents - value.cents
        return wrong or only_changed(start, end, Account, account.id, balance_cents=left)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Savings", role="button")
        yield Press(self.pot)
        yield Fill("Amount", text_of(value))
        yield Press("Put in")


@dataclass(frozen=True)
class ChatPayIt(Act):
    app, steps, takes = "Chat", 7, ("cents",)
    orders = ("send {it} to {paid} as money in Chat", "pay {paid} {it} in our chat")
    touches = (ChatMessage, ChatThread, Account, Transfer)
    high_stakes = True
    paid: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.paid, "I am home now")

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        new = wrong_chat(start, end, self.paid)
        if isinstance(new, str):
            return new
        if new.cents != value.cents:
            return f"{new.cents} cents were sent"
        return not_paid(start, end, self.paid, value.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.paid, role="row")
        yield Press("Attach")
        yield Press("Send money", role="row")
        yield Fill("Amount", text_of(value))
        yield Press("Next")
        yield Press("Pay")


@dataclass(frozen=True)
class PayTheirBill(Act):
    app, steps, takes = "Wallet", 3, ("company",)
    orders = ("pay the bill of {it} in Wallet", "settle what {it} wants from me in Wallet")
    touches = (Bill, Account, Transfer)
    high_stakes = True

    def missing(self, start: View, end: View, value: Value) -> str | None:
        bill = bill_of(start, str(value))
        wrong = only_changed(start, end, Bill, bill.id, paid=True)
        return wrong or not_paid(start, end, bill.company, bill.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        """From the list of bills, where the companies were compared."""
        yield Press(str(value), role="row")
        yield Press("Pay now")
        yield Press("Pay")


# Turn to a person --------------------------------------------------------------------------------


@dataclass(frozen=True)
class WriteThem(Act):
    app, steps, takes = "Chat", 6, ("person",)
    orders = ('write "{text}" to {it} in Chat', 'send {it} "{text}" in Chat')
    touches = (ChatMessage, ChatThread)
    text: str = parameter(TEXTS)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        new = wrong_chat(start, end, str(value))
        if isinstance(new, str):
            return new
        return None if same_text(new.text, self.text) else f"the message says {new.text!r}"

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield from open_chat(start, str(value))
        yield Fill("Message", self.text)
        yield Press("Send", role="button")


@dataclass(frozen=True)
class FollowThem(Act):
    app, steps, takes = "Feed", 5, ("person",)
    orders = ("follow {it} in Feed", "see to it that I follow {it} in Feed")
    touches = (Following,)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Following, lambda each: True)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, Following, person=str(value))

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Search", role="button")
        yield Fill("Search Feed", str(value))
        yield Press(str(value), role="row")
        yield Press("Follow", role="button")


@dataclass(frozen=True)
class PayThem(Act):
    app, steps, takes = "Wallet", 8, ("person",)
    orders = ("send {amount} to {it} with Wallet", "pay {it} {amount} from my wallet")
    touches = (Account, Transfer)
    high_stakes = True
    amount: int = parameter(AMOUNTS)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_paid(start, end, str(value), self.amount)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        return send_money(start, str(value), self.amount)


@dataclass(frozen=True)
class CallThem(Act):
    app, steps, takes = "Phone", 3, ("person",)
    orders = ("call {it}", "give {it} a ring")
    touches = (Call,)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_called(start, end, contact_named(start, str(value)).phone)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Contacts", role="tab")
        yield Press(f"Call {value}")


# Without a value ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SayInChat(Act):
    app, steps = "Chat", 5
    orders = ('write "{text}" to {recipient} in Chat', 'tell {recipient} "{text}" in Chat')
    touches = (ChatMessage, ChatThread)
    recipient: str = parameter(NAMES)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_chat(facts, rng, self.recipient)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        new = wrong_chat(start, end, self.recipient)
        if isinstance(new, str):
            return new
        return None if same_text(new.text, self.text) else f"the message says {new.text!r}"

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield from open_chat(start, self.recipient)
        yield Fill("Message", self.text)
        yield Press("Send", role="button")


@dataclass(frozen=True)
class NoteThat(Act):
    app, steps = "Notes", 4
    orders = ('make a note called "{title}"', 'add a note with the title "{title}"')
    touches = (Note,)
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Note, lambda note: note.title == self.title)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, Note, title=self.title)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.title)
        yield Press("Save", role="button")


@dataclass(frozen=True)
class CallPerson(Act):
    app, steps = "Phone", 3
    orders = ("call {callee}", "give {callee} a ring")
    touches = (Call,)
    callee: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.callee, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_called(start, end, contact_named(start, self.callee).phone)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Contacts", role="tab")
        yield Press(f"Call {self.callee}")


@dataclass(frozen=True)
class PayPerson(Act):
    app, steps = "Wallet", 8
    orders = ("send {amount} to {paid} with Wallet", "pay {paid} {amount} from my wallet")
    touches = (Account, Transfer)
    high_stakes = True
    paid: str = parameter(NAMES)
    amount: int = parameter(AMOUNTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.paid, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_paid(start, end, self.paid, self.amount)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        return send_money(start, self.paid, self.amount)
