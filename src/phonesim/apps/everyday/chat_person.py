"""The pages of Chat about people and the user: profiles, blocking, settings."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.apps.everyday import chat_thread
from phonesim.apps.everyday.blocked_people import blocked_people
from phonesim.apps.everyday.switches import switch_rows
from phonesim.contents.everyday.threads import BlockedChatter, ChatSettings, ChatThread
from phonesim.contents.people import Contact, by_name
from phonesim.toolkit.boxes import Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.discs import Avatar, RoundButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

SOUNDS = {
    "sounds": "Message sounds",
    "previews": "Show previews",
    "save_media": "Save pictures to Gallery",
    "enter_sends": "Enter sends",
}
PRIVACY = {
    "read_receipts": "Read receipts",
    "last_seen": "Show when I was online",
    "group_invites": "Anybody may add me to groups",
}


def new_chat(ui: Ui) -> Window:
    query = ui.text("query").strip().casefold()

    def choose(name: str) -> None:
        ui.back()
        chat_thread.write_to(ui, name)

    rows = [
        ListRow(c.name, c.phone, avatar=c.name, on_tap=partial(choose, c.name))
        for c in by_name(ui.facts)
        if query in c.name.casefold()
    ]
    return ui.page(
        ui.tr("New chat"),
        rows or [Empty(ui.tr("Nobody by that name"), "users")],
        head=Pad(
            ui.field("query", ui.tr("Search people"), icon="search"), sides=12, top=6, bottom=4
        ),
    )


def person(ui: Ui, name: str) -> Window:
    contact = ui.facts.find(Contact, lambda c: c.name == name)
    shared = [t.title for t in ui.facts.all(ChatThread) if t.group and name in t.members]
    blocked = ui.facts.find(BlockedChatter, lambda b: b.person == name)
    buttons = [
        RoundButton("chat", ui.tr("Write"), partial(chat_thread.write_to, ui, name)),
        RoundButton("do_not_disturb", ui.tr("Block"), partial(ui.go, "confirm_block", name)),
    ]
    if blocked:
        buttons[1] = RoundButton("check", ui.tr("Unblock"), partial(ui.facts.remove, blocked))
    rows: list[Widget] = [
        Pad(Avatar(name, 88), top=20),
        Pad(Text(name, "title", align="centre")),
        Pad(Row(buttons, align="spread"), top=6, bottom=10),
        ListRow(ui.tr("Phone"), contact.phone if contact else ui.tr("Unknown"), icon="phone"),
        Heading(ui.tr("Groups that you share")),
        *(ListRow(title, icon="users") for title in shared),
    ]
    return ui.page(ui.tr("Profile"), rows if shared else [*rows, Empty(ui.tr("None"), "users")])


def confirm_block(ui: Ui, name: str) -> Window:
    def block() -> None:
        ui.facts.add(BlockedChatter(person=name))
        ui.say(ui.tr("{name} is blocked", name=name))

    text = ui.tr("{name} can no longer write to you in Chat.", name=name)
    return ui.dialog(
        ui.tr("Block this person?"), text, {ui.tr("Cancel"): None, ui.tr("Block"): block}
    )


def blocked(ui: Ui) -> Window:
    return blocked_people(ui, BlockedChatter)


def settings(ui: Ui) -> Window:
    own = ui.facts.one(ChatSettings)
    edit = partial(ui.go, "profile", name=own.name, about=own.about)
    return ui.page(
        ui.tr("Chat settings"),
        [
            ListRow(own.name, own.about, avatar=own.name, on_tap=edit),
            ListRow(ui.tr("Privacy"), icon="shield", on_tap=lambda: ui.go("privacy")),
            Heading(ui.tr("Notifications and media")),
            *switch_rows(ui, ChatSettings, SOUNDS),
        ],
    )


def privacy(ui: Ui) -> Window:
    count = len(ui.facts.all(BlockedChatter))
    return ui.page(
        ui.tr("Privacy"),
        [
            *switch_rows(ui, ChatSettings, PRIVACY),
            ListRow(
                ui.tr("Blocked people"),
                ui.tr("{count} blocked", count=count),
                icon="do_not_disturb",
                on_tap=lambda: ui.go("blocked"),
            ),
        ],
    )


def profile(ui: Ui) -> Window:
    def save() -> None:
        name = ui.text("name").strip()
        if not name:
            ui.say(ui.tr("A name, please"))
            return
        ui.facts.change(ChatSettings, name=name, about=ui.text("about").strip())
        ui.back()
        ui.say(ui.tr("Profile saved"))

    return ui.page(
        ui.tr("Your profile"),
        [
            Pad(Avatar(ui.text("name") or "?", 88), top=20),
            Pad(ui.field("name", ui.tr("Name"), icon="user"), bottom=0),
            Pad(ui.field("about", ui.tr("About"), icon="edit")),
        ],
        actions=[IconButton("check", ui.tr("Save"), save)],
        foot=Pad(Button(ui.tr("Save profile"), save, "soft")),
    )
