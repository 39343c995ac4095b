"""Chat: threads with people and groups, voice notes, payments, and public updates."""

from __future__ import annotations

import random
from datetime import datetime
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.apps.everyday import chat_groups, chat_person, chat_thread
from phonesim.contents.everyday.threads import (
    ME,
    BlockedChatter,
    ChatMessage,
    ChatSettings,
    ChatThread,
    ChatUpdate,
    UnreadThread,
    furnish_threads,
)
from phonesim.contents.timestamps import full, short
from phonesim.facts import Facts
from phonesim.toolkit.boxes import Card, Column, Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Text
from phonesim.toolkit.widget import Widget

TABS = ("Chats", "Updates", "Groups")
MAX_ROWS = 40


class ChatApp(App):
    """Threads, newest first; updates and groups on their own tabs."""

    name = "Chat"
    icon = "chat"
    color = (38, 140, 92)
    preinstalled = False
    kinds = (ChatThread, ChatMessage, UnreadThread, ChatUpdate, BlockedChatter, ChatSettings)

    network_pages = frozenset(
        ("voice", "pay", "confirm_pay", "share_contact", "forward", "new_update", "new_group",
         "add_member", "confirm_remove_member", "rename_group", "confirm_leave", "confirm_block")
    )  # fmt: skip

    thread = staticmethod(chat_thread.thread)
    attach = staticmethod(chat_thread.attach)
    voice = staticmethod(chat_thread.voice)
    pay = staticmethod(chat_thread.pay_page)
    confirm_pay = staticmethod(chat_thread.confirm_pay)
    pay_failed = staticmethod(chat_thread.pay_failed)
    share_contact = staticmethod(chat_thread.share_contact)
    message = staticmethod(chat_thread.message)
    forward = staticmethod(chat_thread.forward)
    confirm_delete_message = staticmethod(chat_thread.confirm_delete_message)
    find = staticmethod(chat_thread.find)
    thread_info = staticmethod(chat_groups.thread_info)
    wallpaper = staticmethod(chat_groups.wallpaper)
    new_group = staticmethod(chat_groups.new_group)
    add_member = staticmethod(chat_groups.add_member)
    confirm_remove_member = staticmethod(chat_groups.confirm_remove_member)
    rename_group = staticmethod(chat_groups.rename_group)
    confirm_leave = staticmethod(chat_groups.confirm_leave)
    confirm_delete = staticmethod(chat_groups.confirm_delete)
    person = staticmethod(chat_person.person)
    confirm_block = staticmethod(chat_person.confirm_block)
    blocked = staticmethod(chat_person.blocked)
    settings = staticmethod(chat_person.settings)
    privacy = staticmethod(chat_person.privacy)
    profile = staticmethod(chat_person.profile)
    new_chat = staticmethod(chat_person.new_chat)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_threads(facts, rng, now)

    def home(self, ui: Ui) -> Window:
        tab = ui.tab(*TABS)
        body = {
            "Chats": partial(_threads, ui, groups=None, archived=False),
            "Updates": partial(_updates, ui),
            "Groups": partial(_threads, ui, groups=True, archived=False),
        }[tab]()
        primary = {
            "Chats": ("plus", ui.tr("New chat"), lambda: ui.go("new_chat")),
            "Updates": ("edit", ui.tr("New update"), lambda: ui.go("new_update")),
            "Groups": ("user_add", ui.tr("New group"), lambda: ui.go("new_group")),
        }[tab]
        return ui.page(
            ui.tr("Chat"),
            body,
            tabs=ui.tabs(*map(ui.tr, TABS)),
            primary=primary,
            actions=[
                IconButton("search", ui.tr("Search"), lambda: ui.go("find")),
                IconButton("more", ui.tr("More options"), lambda: ui.go("options")),
            ],
        )

    def options(self, ui: Ui) -> Window:
        pages = {
            "Starred messages": "starred", "Archived chats": "archived",
            "Chat settings": "settings",
        }  # fmt: skip
        return ui.menu({ui.tr(label): partial(ui.go, page) for label, page in pages.items()})

    def archived(self, ui: Ui) -> Window:
        return ui.page(ui.tr("Archived chats"), _threads(ui, groups=None, archived=True))

    def starred(self, ui: Ui) -> Window:
        rows = [
            ListRow(
                ui.tr(message.sender),
                message.text,
                trailing=short(message.time, ui.now, ui.settings.use_24_hour, ui.language),
                icon="star_filled",
                on_tap=partial(ui.go, "thread", message.thread),
            )
            for message in ui.facts.where(ChatMessage, lambda message: message.starred)
        ]
        return ui.page(
            ui.tr("Starred messages"), rows or [Empty(ui.tr("Nothing is starred"), "star")]
        )

    def thread_menu(self, ui: Ui, thread_id: int) -> Window:
        thread = ui.facts.get(ChatThread, thread_id)
        return ui.sheet(
            thread.title,
            {
                ui.tr("Unpin") if thread.pinned else ui.tr("Pin"): partial(
                    ui.facts.edit, thread, pinned=not thread.pinned
                ),
                ui.tr("Unmute") if thread.muted else ui.tr("Mute"): partial(
                    ui.facts.edit, thread, muted=not thread.muted
                ),
                ui.tr("Unarchive") if thread.archived else ui.tr("Archive"): partial(
                    ui.facts.edit, thread, archived=not thread.archived
                ),
                ui.tr("Delete chat"): partial(ui.go, "confirm_delete", thread_id),
            },
        )

    # Updates -----------------------------------------------------------------------------------

    def update(self, ui: Ui, update_id: int) -> Window:
        update = ui.facts.get(ChatUpdate, update_id)

        def like() -> None:
            ui.facts.edit(update, liked=not update.liked)

        liked = ui.tr("Unlike") if update.liked else ui.tr("Like")
        icon = "heart_filled" if update.liked else "heart"
        buttons: list[Widget] = [Button(liked, like, "soft", icon=icon)]
        if update.person == ME:
            buttons.append(
                Button(
                    ui.tr("Delete update"),
                    lambda: ui.go("confirm_delete_update", update_id),
                    "danger",
                )
            )
        else:
            buttons.append(
                Button(
                    ui.tr("Answer|update"),
                    partial(chat_thread.write_to, ui, update.person),
                    "soft",
                    "reply",
                )
            )
        return ui.page(
            ui.tr(update.person),
            [
                Pad(
                    Text(
                        full(update.time, ui.now, ui.settings.use_24_hour, ui.language),
                        "small",
                        "muted",
                    )
                ),
                Pad(Text(update.text, "title")),
            ],
            foot=Pad(Row(buttons, align="spread")),
        )

    def confirm_delete_update(self, ui: Ui, update_id: int) -> Window:
        update = ui.facts.get(ChatUpdate, update_id)
        return ui.dialog(
            ui.tr("Delete update?"),
            ui.tr("Nobody will see it any more."),
            {ui.tr("Cancel"): None, ui.tr("Delete"): lambda: ui.facts.remove(update)},
        )

    def new_update(self, ui: Ui) -> Window:
        def share() -> None:
            text = ui.text("text").strip()
            if not text:
                ui.say(ui.tr("Write something first"))
                return
            ui.facts.add(ChatUpdate(person=ME, text=text, time=ui.now))
            ui.back()
            ui.say(ui.tr("Shared with everybody"))

        return ui.page(
            ui.tr("New update"),
            [
                Pad(ui.field("text", ui.tr("What is new?"), lines=5)),
                Pad(Text(ui.tr("All your contacts can see it for a day."), "small", "muted")),
            ],
            actions=[IconButton("send", ui.tr("Share"), share, selected=True)],
        )


def _threads(ui: Ui, *, groups: bool | None, archived: bool) -> list[Widget]:
    """Return rows of threads: pinned ones first, then by the time of the last message."""
    unread = {mark.thread for mark in ui.facts.all(UnreadThread)}
    latest: dict[int, ChatMessage] = {}
    for message in sorted(ui.facts.all(ChatMessage), key=lambda m: (m.time, m.id)):
        latest[message.thread] = message
    found = [
        thread
        for thread in ui.facts.all(ChatThread)
        if thread.archived is archived and groups in (None, thread.group)
    ]
    start = datetime(2000, 1, 1)
    found.sort(key=lambda t: latest[t.id].time if t.id in latest else start, reverse=True)
    found.sort(key=lambda thread: not thread.pinned)
    rows: list[Widget] = [
        _thread_row(ui, thread, latest.get(thread.id), thread.id in unread)
        for thread in found[:MAX_ROWS]
    ]
    return rows or [Empty(ui.tr("No chats here"), "chat")]


def _thread_row(ui: Ui, thread: ChatThread, last: ChatMessage | None, unread: bool) -> ListRow:
    when = short(last.time, ui.now, ui.settings.use_24_hour, ui.language) if last else ""
    marks = [ui.tr(word) for word, on in (("Pinned", thread.pinned), ("Muted", thread.muted)) if on]
    return ListRow(
        thread.title,
        chat_thread.preview(ui, last) if last else ui.tr("Nothing yet"),
        trailing=" · ".join([*marks, when]),
        avatar=thread.title,
        bold=unread,
        detail_lines=1,
        on_tap=partial(chat_thread.enter, ui, thread.id),
        on_hold=partial(ui.go, "thread_menu", thread.id),
    )


def _updates(ui: Ui) -> list[Widget]:
    updates = sorted(ui.facts.all(ChatUpdate), key=lambda u: (u.time, u.id), reverse=True)
    cards: list[Widget] = []
    for update in updates[:MAX_ROWS]:
        when = short(update.time, ui.now, ui.settings.use_24_hour, ui.language)
        lines: list[Widget] = [
            Row([Text(ui.tr(update.person), "strong"), Text(when, "tiny", "muted")], stretch=0),
            Text(update.text, "body", max_lines=3),
        ]
        card = Card(Column(lines, gap=6), update.text, on_tap=partial(ui.go, "update", update.id))
        cards.append(Pad(card, sides=12, top=5, bottom=5))
    return cards or [Empty(ui.tr("No updates"), "chat")]
