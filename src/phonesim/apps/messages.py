"""Messages: conversations with people and services; write, search, mute, archive, delete.

The records, and the function that opens a conversation from any app, are in `conversations`.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.contents.calls import place_call
from phonesim.contents.conversations import (
    BOTTOM,
    Conversation,
    Message,
    UnreadConversation,
    conversation_with,
    is_unread,
    latest_messages,
    mark_read,
    messages_of,
    open_chat,
)
from phonesim.contents.people import (
    Contact,
    by_name,
    caller,
    contact_of,
    digits,
    names_by_number,
)
from phonesim.contents.small_talk import SERVICES, SMALL_TALK
from phonesim.contents.timestamps import clock, day, short
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.system import Notification
from phonesim.toolkit.boxes import Pad, Row
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.rows import Bubble, Empty, ListRow
from phonesim.toolkit.texts import Text
from phonesim.toolkit.widget import Widget

MAX_ROWS = 40
MAX_BUBBLES = 60
FIRST_CHATS = 7
QUIET = timedelta(hours=2)  # minimum age of initial messages, so that messages of tasks are newer


class MessagesApp(App):
    """A list of conversations, newest first, and a page for each."""

    name = "Messages"
    icon = "message"
    color = (66, 103, 214)
    kinds = (Conversation, Message, UnreadConversation)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        people = rng.sample([c.phone for c in facts.all(Contact)], FIRST_CHATS)
        time = now - QUIET
        chats = [(number, rng.choice(SMALL_TALK)) for number in people]
        chats += [(name, ((False, text),)) for name, text in rng.sample(SERVICES, 2)]
        rng.shuffle(chats)
        for number, talk in chats:
            time -= timedelta(minutes=rng.randrange(20, 900))
            chat = facts.add(Conversation(number=number))
            said = [time - timedelta(minutes=rng.randrange(1, 30)) for _ in talk]
            for (ours, text), moment in zip(talk, sorted(said), strict=True):
                facts.add(Message(0, chat.id, text, ours, moment))
            if not talk[-1][0] and rng.random() < 0.4:
                facts.add(UnreadConversation(conversation=chat.id))
                known = contact_of(facts, number)
                facts.add(Notification(0, self.name, known.name if known else number, talk[-1][1]))

    # The list ----------------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        return ui.page(
            "Messages",
            self._rows(ui, archived=False) or [Empty("No conversations", "message")],
            head=Pad(
                ui.field("query", "Search messages", icon="search"), sides=12, top=6, bottom=4
            ),
            actions=[IconButton("archive", "Archived", lambda: ui.go("archive"))],
            primary=(
                "edit" if ui.version == 2 else "plus",
                "New message",
                lambda: ui.go("new_message"),
            ),
        )

    def archive(self, ui: Ui) -> Window:
        rows = self._rows(ui, archived=True)
        return ui.page("Archived", rows or [Empty("Nothing is archived", "archive")])

    def _rows(self, ui: Ui, *, archived: bool) -> list[Widget]:
        names, latest = names_by_number(ui.facts), latest_messages(ui.facts)
        unread = {mark.conversation for mark in ui.facts.all(UnreadConversation)}
        query = ui.text("query").strip().casefold()
        hits = {m.conversation for m in ui.facts.all(Message) if query in m.text.casefold()}
        chats = [
            chat
            for chat in ui.facts.all(Conversation)
            if chat.archived == archived
            and chat.id in latest
            and (chat.id in hits or query in caller(names, chat.number).casefold())
        ]
        chats.sort(key=lambda chat: latest[chat.id].time, reverse=True)
        return [
            self._row(ui, chat, caller(names, chat.number), latest[chat.id], chat.id in unread)
            for chat in chats[:MAX_ROWS]
        ]

    def _row(self, ui: Ui, chat: Conversation, name: str, last: Message, unread: bool) -> Widget:
        time = short(last.time, ui.now, ui.settings.use_24_hour)
        return ListRow(
            name,
            f"You: {last.text}" if last.ours else last.text,
            trailing=f"Muted · {time}" if chat.muted else time,
            avatar=name,
            bold=unread,
            detail_lines=1 if ui.version == 1 else 2,
            on_tap=partial(open_chat, ui, chat.number),
            on_hold=partial(ui.go, "chat_menu", chat.id),
        )

    def chat_menu(self, ui: Ui, chat_id: int) -> Window:
        chat = ui.facts.get(Conversation, chat_id)
        name = caller(names_by_number(ui.facts), chat.number)
        return ui.sheet(name, self._choices(ui, chat, lambda: None))

    def _choices(self, ui: Ui, chat: Conversation, leave: Handler) -> dict[str, Handler]:
        """Return the actions on a conversation; with `leave` they return to the list."""

        def mark_unread() -> None:
            ui.facts.add(UnreadConversation(conversation=chat.id))
            leave()

        def archive() -> None:
            ui.facts.edit(chat, archived=not chat.archived)
            leave()
            ui.say("Moved to the inbox" if chat.archived else "Conversation archived")

        choices: dict[str, Handler] = {
            "Unmute" if chat.muted else "Mute": lambda: ui.facts.edit(chat, muted=not chat.muted),
            "Unarchive" if chat.archived else "Archive": archive,
        }
        if is_unread(ui.facts, chat):
            choices["Mark as read"] = lambda: mark_read(ui.facts, chat)
        else:
            choices["Mark as unread"] = mark_unread
        choices["Delete conversation"] = lambda: ui.go("confirm_delete", chat.id)
        return choices

    def confirm_delete(self, ui: Ui, chat_id: int) -> Window:
        chat = ui.facts.get(Conversation, chat_id)

        def delete() -> None:
            ui.facts.remove_where(Message, lambda m: m.conversation == chat_id)
            mark_read(ui.facts, chat)
            ui.facts.remove(chat)
            ui.say("Conversation deleted")

        return ui.dialog(
            "Delete conversation?",
            f"All messages with {caller(names_by_number(ui.facts), chat.number)} will be gone.",
            {"Cancel": None, "Delete": delete},
        )

    # One conversation --------------------------------------------------------------------------

    def chat(self, ui: Ui, number: str) -> Window:
        chat = conversation_with(ui.facts, number)
        known = contact_of(ui.facts, number) if digits(number) else None
        actions = []
        if digits(number):
            actions.append(IconButton("phone", "Call", lambda: place_call(ui, number)))
        actions.append(IconButton("more", "More options", lambda: ui.go("chat_options", number)))
        send = IconButton("send", "Send", lambda: self._send(ui, number), selected=True)
        field = ui.field("draft", "Text message", on_submit=lambda: self._send(ui, number))
        return ui.page(
            known.name if known else number,
            self._bubbles(ui, chat) if chat else [Empty("No messages yet", "message")],
            actions=actions,
            foot=Pad(Row([field, send], gap=4, stretch=0), sides=10, top=4, bottom=6),
        )

    def _bubbles(self, ui: Ui, chat: Conversation) -> list[Widget]:
        shown: list[Widget] = []
        heading = ""
        for message in sorted(messages_of(ui.facts, chat), key=lambda m: (m.time, m.id)):
            date = day(message.time, ui.now)
            if date != heading:
                heading = date
                shown.append(Pad(Text(date, "tiny", "muted", align="centre"), top=10, bottom=4))
            time = clock(message.time, ui.settings.use_24_hour)
            shown.append(Bubble(message.text, message.ours, time))
        return shown[-MAX_BUBBLES:]

    def _send(self, ui: Ui, number: str) -> None:
        text = ui.text("draft").strip()
        if not text:
            return
        chat = conversation_with(ui.facts, number) or ui.facts.add(Conversation(number=number))
        ui.facts.add(Message(0, chat.id, text, True, ui.now))
        if chat.archived:
            ui.facts.edit(chat, archived=False)
        ui.set("draft", "")
        ui.set("scroll", BOTTOM)

    def chat_options(self, ui: Ui, number: str) -> Window:
        chat = conversation_with(ui.facts, number)
        choices = self._choices(ui, chat, ui.back) if chat else {}
        if digits(number):
            known = contact_of(ui.facts, number)
            if known:
                contact_id = known.id
                choices["View contact"] = lambda: ui.launch("Contacts", "contact", contact_id)
            else:
                choices["Add to contacts"] = lambda: ui.launch("Contacts", "edit", 0, phone=number)
        return ui.menu(choices)

    def new_message(self, ui: Ui) -> Window:
        query = ui.text("query").strip().casefold()
        people = [c for c in by_name(ui.facts) if c.phone and query in c.name.casefold()]

        def choose(person: Contact) -> None:
            ui.back()
            open_chat(ui, person.phone)

        rows = [
            ListRow(person.name, person.phone, avatar=person.name, on_tap=partial(choose, person))
            for person in people[:MAX_ROWS]
        ]
        return ui.page(
            "New message",
            rows or [Empty("Nobody by that name", "users")],
            head=Pad(ui.field("query", "Search people", icon="search"), sides=12, top=6, bottom=4),
        )
