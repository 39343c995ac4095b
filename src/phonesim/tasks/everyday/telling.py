"""Acts that pass a value on or write it down: chat, text, mail, post, note, list."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.mail import Mail
from phonesim.apps.notes import Note
from phonesim.contents.conversations import Conversation, Message
from phonesim.contents.everyday.posts import EVERYBODY, Post
from phonesim.contents.everyday.posts import ME as FEED_ME
from phonesim.contents.everyday.threads import ChatMessage, ChatThread
from phonesim.contents.todo_items import TodoItem
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.everyday_sources import GROUP_NAMES
from phonesim.tasks.everyday.parts import Act, Value, says, text_of
from phonesim.tasks.everyday.put import (
    open_chat,
    put_chat,
    wrong_chat,
)
from phonesim.tasks.general.chats import talk_to, wrong_message
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.mailbox import SUBJECTS, sent_mail
from phonesim.tasks.general.people import NAMES, contact_named, known
from phonesim.tasks.general.todo import LISTS, ensure_list, list_called
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import View, added

SPARE_TITLES = Domain(
    "notes to keep things in",
    (
        "Not to forget", "Looked up", "For later", "Found out", "Keep this", "Important",
        "From the phone", "Memo", "Today's finds", "Facts",
    ),
)  # fmt: skip


def _unsaid(text: str, value: Value) -> str | None:
    return None if says(text, value) else f"{text!r} does not say {text_of(value)!r}"


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
    """Like `TellChat`, but the instruction names a wrong person first and corrects itself."""

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
