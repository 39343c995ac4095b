"""The pages of Chat about a whole thread: its members, its look, leaving it."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.everyday.threads import ChatMessage, ChatThread, UnreadThread
from phonesim.contents.people import by_name
from phonesim.drawing.colors import Color
from phonesim.toolkit.boxes import Grid, Pad
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.discs import Avatar
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.swatches import Swatch
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

WALLPAPERS: dict[str, Color] = {
    "Plain": (200, 204, 212), "Sand": (214, 190, 150), "Mint": (140, 196, 172),
    "Sky": (130, 170, 220), "Rose": (222, 150, 160), "Ink": (60, 70, 90),
}  # fmt: skip


def thread_info(ui: Ui, thread_id: int) -> Window:
    thread = ui.facts.get(ChatThread, thread_id)
    rows: list[Widget] = [
        Pad(Avatar(thread.title, 80), top=18),
        Pad(Text(thread.title, "title", align="centre")),
        ListRow(
            ui.tr("Mute notifications"),
            icon="bell_off",
            switch=thread.muted,
            on_tap=partial(ui.facts.edit, thread, muted=not thread.muted),
        ),
        ListRow(
            ui.tr("Wallpaper"),
            ui.tr(thread.wallpaper),
            icon="palette",
            on_tap=partial(ui.go, "wallpaper", thread_id),
        ),
    ]
    if thread.group:
        rows += [
            ListRow(ui.tr("Rename group"), icon="edit", on_tap=partial(_rename, ui, thread)),
            ListRow(
                ui.tr("Add member"), icon="user_add", on_tap=partial(ui.go, "add_member", thread_id)
            ),
            Heading(ui.tr("{count} members", count=len(thread.members) + 1)),
            *(_member(ui, thread, name) for name in thread.members),
        ]
        leave = Button(ui.tr("Leave group"), partial(ui.go, "confirm_leave", thread_id), "danger")
        return ui.page(ui.tr("Group info"), rows, foot=Pad(leave))
    rows.append(
        ListRow(ui.tr("View profile"), icon="user", on_tap=partial(ui.go, "person", thread.title))
    )
    delete = Button(ui.tr("Delete chat"), partial(ui.go, "confirm_delete", thread_id), "danger")
    return ui.page(ui.tr("Chat info"), rows, foot=Pad(delete))


def _rename(ui: Ui, thread: ChatThread) -> None:
    ui.go("rename_group", thread.id, name=thread.title)


def _member(ui: Ui, thread: ChatThread, name: str) -> ListRow:
    remove = partial(ui.go, "confirm_remove_member", thread.id, name)
    return ListRow(
        name,
        avatar=name,
        on_tap=partial(ui.go, "person", name),
        button=("close", ui.tr("Remove {name}", name=name), remove),
    )


def wallpaper(ui: Ui, thread_id: int) -> Window:
    thread = ui.facts.get(ChatThread, thread_id)
    tiles: list[Widget] = [
        Swatch(
            ui.tr(name),
            color,
            partial(ui.facts.edit, thread, wallpaper=name),
            selected=thread.wallpaper == name,
        )
        for name, color in WALLPAPERS.items()
    ]
    return ui.page(ui.tr("Wallpaper"), [Pad(Grid(tiles, 3, 16), top=20)])


def new_group(ui: Ui) -> Window:
    """A form with a name and at least two people; the page's memory holds the choice."""
    chosen: tuple[str, ...] = ui.get("chosen", ())

    def toggle(name: str) -> None:
        rest = tuple(other for other in chosen if other != name)
        ui.set("chosen", rest if name in chosen else (*chosen, name))

    def create() -> None:
        title = ui.text("name").strip()
        if not title or len(chosen) < 2:
            ui.say(ui.tr("A name and at least two people, please"))
            return
        made = ui.facts.add(ChatThread(title=title, members=chosen, group=True))
        ui.swap("thread", made.id)

    query = ui.text("query").strip().casefold()
    rows: list[Widget] = [
        ListRow(c.name, avatar=c.name, check=c.name in chosen, on_tap=partial(toggle, c.name))
        for c in by_name(ui.facts)
        if query in c.name.casefold()
    ]
    return ui.page(
        ui.tr("New group"),
        [
            Pad(ui.field("name", ui.tr("Group name"), icon="users"), bottom=0),
            Pad(ui.field("query", ui.tr("Search people"), icon="search")),
            *(rows or [Empty(ui.tr("Nobody by that name"), "users")]),
        ],
        actions=[IconButton("check", ui.tr("Create group"), create)],
    )


def add_member(ui: Ui, thread_id: int) -> Window:
    thread = ui.facts.get(ChatThread, thread_id)

    def add(name: str) -> None:
        ui.facts.edit(thread, members=(*thread.members, name))
        ui.back()
        ui.say(ui.tr("{name} was added", name=name))

    query = ui.text("query").strip().casefold()
    rows = [
        ListRow(c.name, c.phone, avatar=c.name, on_tap=partial(add, c.name))
        for c in by_name(ui.facts)
        if query in c.name.casefold() and c.name not in thread.members
    ]
    return ui.page(
        ui.tr("Add member"),
        rows or [Empty(ui.tr("Nobody by that name"), "users")],
        head=Pad(
            ui.field("query", ui.tr("Search people"), icon="search"), sides=12, top=6, bottom=4
        ),
    )


def confirm_remove_member(ui: Ui, thread_id: int, name: str) -> Window:
    thread = ui.facts.get(ChatThread, thread_id)

    def remove() -> None:
        ui.facts.edit(thread, members=tuple(m for m in thread.members if m != name))

    text = ui.tr("{name} will no longer see this group.", name=name)
    return ui.dialog(
        ui.tr("Remove from the group?"), text, {ui.tr("Cancel"): None, ui.tr("Remove"): remove}
    )


def rename_group(ui: Ui, thread_id: int) -> Window:
    thread = ui.facts.get(ChatThread, thread_id)

    def save() -> None:
        name = ui.text("name").strip()
        if not name:
            ui.say(ui.tr("A group needs a name"))
            return
        ui.facts.edit(thread, title=name)
        ui.back()

    return ui.page(
        ui.tr("Rename group"),
        [Pad(ui.field("name", ui.tr("Group name"), icon="users", on_submit=save))],
        actions=[IconButton("check", ui.tr("Save"), save)],
    )


def confirm_leave(ui: Ui, thread_id: int) -> Window:
    thread = ui.facts.get(ChatThread, thread_id)
    text = ui.tr("You will get no more messages from “{name}”.", name=thread.title)
    return ui.dialog(
        ui.tr("Leave group?"),
        text,
        {ui.tr("Stay"): None, ui.tr("Leave"): partial(_forget, ui, thread)},
    )


def confirm_delete(ui: Ui, thread_id: int) -> Window:
    thread = ui.facts.get(ChatThread, thread_id)
    text = ui.tr("All messages with {name} will be gone.", name=thread.title)
    return ui.dialog(
        ui.tr("Delete chat?"),
        text,
        {ui.tr("Cancel"): None, ui.tr("Delete"): partial(_forget, ui, thread)},
    )


def _forget(ui: Ui, thread: ChatThread) -> None:
    ui.facts.remove_where(ChatMessage, lambda message: message.thread == thread.id)
    ui.facts.remove_where(UnreadThread, lambda mark: mark.thread == thread.id)
    ui.facts.remove(thread)
    ui.say(ui.tr("{name} is gone", name=thread.title))
