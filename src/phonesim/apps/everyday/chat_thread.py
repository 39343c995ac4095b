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


def preview(ui: Ui, message: ChatMessage) -> str:
    """Return what a list shows of a message."""
    words = words_of(ui, message)
    return ui.tr("You: {words}", words=words) if message.sender == ME else words


def words_of(ui: Ui, message: ChatMessage) -> str:
    if message.cents:
        return ui.tr("Payment of {amount}", amount=money(message.cents, ui.language))
    if message.seconds:
        length = f"{message.seconds // 60}:{message.seconds % 60:02}"
        return ui.tr("Voice note, {length}", length=length)
    return message.text


def enter(ui: Ui, thread_id: int) -> None:
    """Open a thread and mark it as read."""
    ui.facts.remove_where(UnreadThread, lambda mark: mark.thread == thread_id)
    ui.go("thread", thread_id, scroll=BOTTOM)


def write_to(ui: Ui, person: str) -> None:
    enter(ui, open_thread(ui.facts, person).id)


def thread(ui: Ui, thread_id: int) -> Window:
    shown = ui.facts.get(ChatThread, thread_id)
    send = partial(_send, ui, thread_id)
    field = ui.field("draft", ui.tr("Message"), on_submit=send)
    foot = Row(
        [
            IconButton("plus", ui.tr("Attach"), lambda: ui.go("attach", thread_id)),
            field,
            IconButton("microphone", ui.tr("Voice note"), lambda: ui.go("voice", thread_id)),
            IconButton("send", ui.tr("Send"), send, selected=True),
        ],
        gap=0,
        stretch=1,
    )
    blocked = ui.facts.find(BlockedChatter, lambda b: b.person == shown.title)
    note = Pad(Text(ui.tr("You blocked this person"), "small", "danger", align="centre"), bottom=14)
    return ui.page(
        shown.title,
        _messages(ui, shown) or [Empty(ui.tr("Say hello"), "chat")],
        actions=[IconButton("info", ui.tr("Chat info"), lambda: ui.go("thread_info", thread_id))],
        foot=note if blocked else Pad(foot, sides=4, top=4, bottom=6),
    )


def _messages(ui: Ui, thread: ChatThread) -> list[Widget]:
    shown: list[Widget] = []
    heading = ""
    for message in messages_in(ui.facts, thread.id)[-MAX_MESSAGES:]:
        named = day(message.time, ui.now, ui.language)
        if named != heading:
            heading = named
            shown.append(Pad(Text(named, "tiny", "muted", align="centre"), top=10, bottom=4))
        icon = "coin" if message.cents else "play" if message.seconds else ""
        shown.append(
            MessageRow(
                words_of(ui, message),
                message.sender == ME,
                clock(message.time, ui.settings.use_24_hour, ui.language),
                sender=message.sender if thread.group and message.sender != ME else "",
                icon=icon,
                starred=message.starred,
                on_hold=partial(ui.go, "message", message.id),
            )
        )
    return shown


def _send(ui: Ui, thread_id: int) -> None:
    text = ui.text("draft").strip()
    if text and ui.offline:
        ui.say(ui.tr("Not sent: you are offline"))
    elif text:
        say_in(ui, ChatMessage(thread=thread_id, sender=ME, text=text, time=ui.now))
        ui.set("draft", "")
        ui.set("scroll", BOTTOM)


def say_in(ui: Ui, message: ChatMessage) -> None:
    ui.facts.add(message)


def attach(ui: Ui, thread_id: int) -> Window:
    shown = ui.facts.get(ChatThread, thread_id)
    choices: dict[str, Handler] = {
        ui.tr("Contact"): lambda: ui.go("share_contact", thread_id),
        ui.tr("Voice note"): lambda: ui.go("voice", thread_id),
    }
    if not shown.group:
        choices = {ui.tr("Send money"): lambda: ui.go("pay", thread_id), **choices}
    return ui.sheet(ui.tr("Attach"), choices)


def voice(ui: Ui, thread_id: int) -> Window:
    """Record a voice note: every tap on Record adds `SECONDS_PER_TAP` seconds."""
    seconds = int(ui.get("seconds", 0))

    def send() -> None:
        ui.back()
        say_in(ui, ChatMessage(thread=thread_id, sender=ME, seconds=seconds, time=ui.now))
        ui.set("scroll", BOTTOM)

    buttons = [
        RoundButton("trash", ui.tr("Discard"), ui.back),
        RoundButton(
            "record", ui.tr("Record"), partial(ui.set, "seconds", seconds + SECONDS_PER_TAP)
        ),
        RoundButton("send", ui.tr("Send note"), send, enabled=seconds > 0),
    ]
    hint = ui.tr("Each tap on Record takes {seconds} seconds", seconds=SECONDS_PER_TAP)
    return ui.page(
        ui.tr("Voice note"),
        [
            Pad(Icon("microphone", 96, "primary"), top=60),
            Pad(Text(f"{seconds // 60}:{seconds % 60:02}", "headline", align="centre")),
            Pad(Text(hint, "small", "muted")),
        ],
        foot=Pad(Row(buttons, align="spread"), bottom=20),
    )


# Money -------------------------------------------------------------------------------------------


def pay_page(ui: Ui, thread_id: int) -> Window:
    person = ui.facts.get(ChatThread, thread_id).title

    def go_on() -> None:
        cents = cents_of(ui.text("amount"))
        if cents is None:
            ui.say(ui.tr("Give an amount such as 12.50"))
        elif not can_pay(ui.facts, cents):
            ui.go("pay_failed", cents)
        else:
            ui.go("confirm_pay", thread_id, cents)

    balance = money(ui.facts.one(Account).balance_cents, ui.language)
    holds = ui.tr("From your wallet, which holds {amount}", amount=balance)
    return ui.page(
        ui.tr("Send money"),
        [
            Pad(Avatar(person, 64), top=20),
            Pad(Text(ui.tr("to {name}", name=person), "body", "muted", align="centre")),
            Pad(ui.field("amount", ui.tr("Amount"), icon="coin", on_submit=go_on)),
            Pad(Text(holds, "small", "muted")),
        ],
        foot=Pad(Button(ui.tr("Next"), go_on)),
    )


def confirm_pay(ui: Ui, thread_id: int, cents: int) -> Window:
    person = ui.facts.get(ChatThread, thread_id).title

    def confirm() -> None:
        pay(ui.facts, person, cents, "Chat", ui.now)
        say_in(ui, ChatMessage(thread=thread_id, sender=ME, cents=cents, time=ui.now))
        ui.back()
        ui.set("scroll", BOTTOM)

    amount = money(cents, ui.language)
    text = ui.tr("{name} gets {amount} at once.", name=person, amount=amount)
    return ui.dialog(
        ui.tr("Send this money?"), text, {ui.tr("Cancel"): None, ui.tr("Pay"): confirm}
    )


def pay_failed(ui: Ui, cents: int) -> Window:
    """An error page: the wallet's balance is too low."""
    amount = money(cents, ui.language)
    lacking = ui.tr("Your wallet does not hold {amount}", amount=amount)
    return ui.page(
        ui.tr("Not sent"),
        [
            Pad(Icon("error", 72, "danger"), top=40),
            Pad(Text(lacking, "title", align="centre")),
        ],
        foot=Pad(Button(ui.tr("Go back"), ui.back, "soft")),
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
        ui.tr("Share a contact"),
        rows or [Empty(ui.tr("Nobody by that name"), "users")],
        head=Pad(
            ui.field("query", ui.tr("Search people"), icon="search"), sides=12, top=6, bottom=4
        ),
    )


# One message -------------------------------------------------------------------------------------


def message(ui: Ui, message_id: int) -> Window:
    shown = ui.facts.get(ChatMessage, message_id)
    star = ui.tr("Unstar") if shown.starred else ui.tr("Star")
    choices: dict[str, Handler] = {
        star: partial(ui.facts.edit, shown, starred=not shown.starred),
        ui.tr("Forward"): partial(ui.go, "forward", message_id),
        ui.tr("Delete message"): partial(ui.go, "confirm_delete_message", message_id),
    }
    return ui.sheet(words_of(ui, shown)[:60], choices)


def forward(ui: Ui, message_id: int) -> Window:
    shown = ui.facts.get(ChatMessage, message_id)

    def to(thread_id: int) -> None:
        copied = replace(shown, thread=thread_id, sender=ME, time=ui.now, starred=False, cents=0)
        ui.back()
        say_in(ui, copied)
        ui.say(ui.tr("Forwarded"))

    return _threads(ui, ui.tr("Forward to"), to)


def _threads(ui: Ui, title: str, choose: Callable[[int], None]) -> Window:
    query = ui.text("query").strip().casefold()
    rows = [
        ListRow(thread.title, avatar=thread.title, on_tap=partial(choose, thread.id))
        for thread in sorted(ui.facts.all(ChatThread), key=lambda t: t.title.casefold())
        if query in thread.title.casefold()
    ]
    return ui.page(
        title,
        rows or [Empty(ui.tr("No such chat"), "chat")],
        head=Pad(
            ui.field("query", ui.tr("Search chats"), icon="search"), sides=12, top=6, bottom=4
        ),
    )


def confirm_delete_message(ui: Ui, message_id: int) -> Window:
    shown = ui.facts.get(ChatMessage, message_id)
    return ui.dialog(
        ui.tr("Delete message?"),
        ui.tr("“{words}” will be gone for you.", words=words_of(ui, shown)[:80]),
        {ui.tr("Cancel"): None, ui.tr("Delete"): lambda: ui.facts.remove(shown)},
    )


def find(ui: Ui) -> Window:
    """Search all messages of all threads."""
    query = ui.text("query").strip().casefold()
    titles = {thread.id: thread.title for thread in ui.facts.all(ChatThread)}
    rows: list[Widget] = [
        ListRow(
            titles[message.thread],
            words_of(ui, message),
            trailing=short(message.time, ui.now, ui.settings.use_24_hour, ui.language),
            avatar=titles[message.thread],
            on_tap=partial(enter, ui, message.thread),
        )
        for message in reversed(ui.facts.all(ChatMessage))
        if query and query in words_of(ui, message).casefold() and message.thread in titles
    ]
    empty = Empty(
        ui.tr("Nothing was said about that") if query else ui.tr("Search for words"), "search"
    )
    return ui.page(
        ui.tr("Search"),
        rows[:MAX_MESSAGES] or [empty],
        head=Pad(
            ui.field("query", ui.tr("Search messages"), icon="search"), sides=12, top=6, bottom=4
        ),
    )
