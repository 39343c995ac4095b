"""The pages of Chat about one thread: its messages, voice notes, payments, forwarding, search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.conversations import BOTTOM
from phonesim.contents.everyday.money import Account, can_pay, cents_of, money, pay
from phonesim.contents.everyday.threads import (
    ME,
    BlockedChatter,
    ChatMessage,
    ChatThread,
    UnreadThread,
    messages_in,
    open_thread,
)
from phonesim.contents.people import by_name
from phonesim.contents.timestamps import clock, day, short
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.discs import Avatar, RoundButton
from phonesim.toolkit.message_rows import MessageRow
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Icon, Text
from phonesim.toolkit.widget import Widget

MAX_MESSAGES = 50
SECONDS_PER_TAP = 5


def preview(message: ChatMessage) -> str:
    """What a list shows of a message."""
    who = "You: " if message.sender == ME else ""
    return who + words_of(message)


def words_of(message: ChatMessage) -> str:
    if message.cents:
        return f"Payment of {money(message.cents)}"
    if message.seconds:
        return f"Voice note, {message.seconds // 60}:{message.seconds % 60:02}"
    return message.text


def enter(ui: Ui, thread_id: int) -> None:
    """Open a thread; what is new in it is read now."""
    ui.facts.remove_where(UnreadThread, lambda mark: mark.thread == thread_id)
    ui.go("thread", thread_id, scroll=BOTTOM)


def write_to(ui: Ui, person: str) -> None:
    enter(ui, open_thread(ui.facts, person).id)


def thread(ui: Ui, thread_id: int) -> Window:
    shown = ui.facts.get(ChatThread, thread_id)
    send = partial(_send, ui, thread_id)
    field = ui.field("draft", "Message", on_submit=send)
    foot = Row(
        [
            IconButton("plus", "Attach", lambda: ui.go("attach", thread_id)),
            field,
            IconButton("microphone", "Voice note", lambda: ui.go("voice", thread_id)),
            IconButton("send", "Send", send, selected=True),
        ],
        gap=0,
        stretch=1,
    )
    blocked = ui.facts.find(BlockedChatter, lambda b: b.person == shown.title)
    note = Pad(Text("You blocked this person", "small", "danger", align="centre"), bottom=14)
    return ui.page(
        shown.title,
        _messages(ui, shown) or [Empty("Say hello", "chat")],
        actions=[IconButton("info", "Chat info", lambda: ui.go("thread_info", thread_id))],
        foot=note if blocked else Pad(foot, sides=4, top=4, bottom=6),
    )


def _messages(ui: Ui, thread: ChatThread) -> list[Widget]:
    shown: list[Widget] = []
    heading = ""
    for message in messages_in(ui.facts, thread.id)[-MAX_MESSAGES:]:
        named = day(message.time, ui.now)
        if named != heading:
            heading = named
            shown.append(Pad(Text(named, "tiny", "muted", align="centre"), top=10, bottom=4))
        icon = "coin" if message.cents else "play" if message.seconds else ""
        shown.append(
            MessageRow(
                words_of(message),
                message.sender == ME,
                clock(message.time, ui.settings.use_24_hour),
                sender=message.sender if thread.group and message.sender != ME else "",
                icon=icon,
                starred=message.starred,
                on_hold=partial(ui.go, "message", message.id),
            )
        )
    return shown


def _send(ui: Ui, thread_id: int) -> None:
    text = ui.text("draft").strip()
    if text:
        say_in(ui, ChatMessage(thread=thread_id, sender=ME, text=text, time=ui.now))
        ui.set("draft", "")
        ui.set("scroll", BOTTOM)


def say_in(ui: Ui, message: ChatMessage) -> None:
    ui.facts.add(message)


def attach(ui: Ui, thread_id: int) -> Window:
    shown = ui.facts.get(ChatThread, thread_id)
    choices: dict[str, Handler] = {
        "Contact": lambda: ui.go("share_contact", thread_id),
        "Voice note": lambda: ui.go("voice", thread_id),
    }
    if not shown.group:
        choices = {"Send money": lambda: ui.go("pay", thread_id), **choices}
    return ui.sheet("Attach", choices)


def voice(ui: Ui, thread_id: int) -> Window:
    """Every tap on Record lasts some seconds."""
    seconds = int(ui.get("seconds", 0))

    def send() -> None:
        ui.back()
        say_in(ui, ChatMessage(thread=thread_id, sender=ME, seconds=seconds, time=ui.now))
        ui.set("scroll", BOTTOM)

    buttons = [
        RoundButton("trash", "Discard", ui.back),
        RoundButton("record", "Record", partial(ui.set, "seconds", seconds + SECONDS_PER_TAP)),
        RoundButton("send", "Send note", send, enabled=seconds > 0),
    ]
    return ui.page(
        "Voice note",
        [
            Pad(Icon("microphone", 96, "primary"), top=60),
            Pad(Text(f"{seconds // 60}:{seconds % 60:02}", "headline", align="centre")),
            Pad(Text(f"Each tap on Record takes {SECONDS_PER_TAP} seconds", "small", "muted")),
        ],
        foot=Pad(Row(buttons, align="spread"), bottom=20),
    )


# Money -------------------------------------------------------------------------------------------


def pay_page(ui: Ui, thread_id: int) -> Window:
    person = ui.facts.get(ChatThread, thread_id).title

    def go_on() -> None:
        cents = cents_of(ui.text("amount"))
        if cents is None:
            ui.say("Give an amount such as 12.50")
        elif not can_pay(ui.facts, cents):
            ui.go("pay_failed", cents)
        else:
            ui.go("confirm_pay", thread_id, cents)

    balance = money(ui.facts.one(Account).balance_cents)
    return ui.page(
        "Send money",
        [
            Pad(Avatar(person, 64), top=20),
            Pad(Text(f"to {person}", "body", "muted", align="centre")),
            Pad(ui.field("amount", "Amount", icon="coin", on_submit=go_on)),
            Pad(Text(f"From your wallet, which holds {balance}", "small", "muted")),
        ],
        foot=Pad(Button("Next", go_on)),
    )


def confirm_pay(ui: Ui, thread_id: int, cents: int) -> Window:
    person = ui.facts.get(ChatThread, thread_id).title

    def confirm() -> None:
        pay(ui.facts, person, cents, "Chat", ui.now)
        say_in(ui, ChatMessage(thread=thread_id, sender=ME, cents=cents, time=ui.now))
        ui.back()
        ui.set("scroll", BOTTOM)

    text = f"{person} gets {money(cents)} at once."
    return ui.dialog("Send this money?", text, {"Cancel": None, "Pay": confirm})


def pay_failed(ui: Ui, cents: int) -> Window:
    """An error page: the wallet does not hold as much."""
    return ui.page(
        "Not sent",
        [
            Pad(Icon("error", 72, "danger"), top=40),
            Pad(Text(f"Your wallet does not hold {money(cents)}", "title", align="centre")),
        ],
        foot=Pad(Button("Go back", ui.back, "soft")),
    )


def share_contact(ui: Ui, thread_id: int) -> Window:
    def share(name: str, phone: str) -> None:
        text = f"Contact: {name}, {phone}"
        ui.back()
        say_in(ui, ChatMessage(thread=thread_id, sender=ME, text=text, time=ui.now))

    query = ui.text("query").strip().casefold()
    rows = [
        ListRow(c.name, c.phone, avatar=c.name, on_tap=partial(share, c.name, c.phone))
        for c in by_name(ui.facts)
        if query in c.name.casefold()
    ]
    return ui.page(
        "Share a contact",
        rows or [Empty("Nobody by that name", "users")],
        head=Pad(ui.field("query", "Search people", icon="search"), sides=12, top=6, bottom=4),
    )


# One message -------------------------------------------------------------------------------------


def message(ui: Ui, message_id: int) -> Window:
    shown = ui.facts.get(ChatMessage, message_id)
    star = "Unstar" if shown.starred else "Star"
    choices: dict[str, Handler] = {
        star: partial(ui.facts.edit, shown, starred=not shown.starred),
        "Forward": partial(ui.go, "forward", message_id),
        "Delete message": partial(ui.go, "confirm_delete_message", message_id),
    }
    return ui.sheet(words_of(shown)[:60], choices)


def forward(ui: Ui, message_id: int) -> Window:
    shown = ui.facts.get(ChatMessage, message_id)

    def to(thread_id: int) -> None:
        copied = replace(shown, thread=thread_id, sender=ME, time=ui.now, starred=False, cents=0)
        ui.back()
        say_in(ui, copied)
        ui.say("Forwarded")

    return _threads(ui, "Forward to", to)


def _threads(ui: Ui, title: str, choose: Callable[[int], None]) -> Window:
    query = ui.text("query").strip().casefold()
    rows = [
        ListRow(thread.title, avatar=thread.title, on_tap=partial(choose, thread.id))
        for thread in sorted(ui.facts.all(ChatThread), key=lambda t: t.title.casefold())
        if query in thread.title.casefold()
    ]
    return ui.page(
        title,
        rows or [Empty("No such chat", "chat")],
        head=Pad(ui.field("query", "Search chats", icon="search"), sides=12, top=6, bottom=4),
    )


def confirm_delete_message(ui: Ui, message_id: int) -> Window:
    shown = ui.facts.get(ChatMessage, message_id)
    return ui.dialog(
        "Delete message?",
        f"“{words_of(shown)[:80]}” will be gone for you.",
        {"Cancel": None, "Delete": lambda: ui.facts.remove(shown)},
    )


def find(ui: Ui) -> Window:
    """Search over everything that was said."""
    query = ui.text("query").strip().casefold()
    titles = {thread.id: thread.title for thread in ui.facts.all(ChatThread)}
    rows: list[Widget] = [
        ListRow(
            titles[message.thread],
            words_of(message),
            trailing=short(message.time, ui.now, ui.settings.use_24_hour),
            avatar=titles[message.thread],
            on_tap=partial(enter, ui, message.thread),
        )
        for message in reversed(ui.facts.all(ChatMessage))
        if query and query in words_of(message).casefold() and message.thread in titles
    ]
    empty = Empty("Nothing was said about that" if query else "Search for words", "search")
    return ui.page(
        "Search",
        rows[:MAX_MESSAGES] or [empty],
        head=Pad(ui.field("query", "Search messages", icon="search"), sides=12, top=6, bottom=4),
    )
