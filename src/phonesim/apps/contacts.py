"""Contacts: the address book. Search, call, write to, add, change and delete people."""

from __future__ import annotations

import random
from datetime import datetime
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.contents.calls import place_call
from phonesim.contents.conversations import open_chat
from phonesim.contents.people import (
    LABELS,
    PEOPLE,
    Contact,
    birthday_text,
    by_name,
    digits,
    settle,
)
from phonesim.contents.timestamps import MONTHS
from phonesim.facts import Facts
from phonesim.toolkit.boxes import Column, Flow, Grid, Pad, Row, Space
from phonesim.toolkit.controls import Chip, IconButton
from phonesim.toolkit.discs import Avatar, RoundButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

MAX_ROWS = 40
DAYS_IN = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
FIRST_PEOPLE = 13


class ContactsApp(App):
    """A list of people, a page for each, and a form."""

    name = "Contacts"
    icon = "users"
    color = (38, 132, 196)
    kinds = (Contact,)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        for name in rng.sample(PEOPLE, FIRST_PEOPLE):
            settle(facts, name, rng)

    # The list ----------------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        people = by_name(ui.facts)
        if ui.tab("All", "Favourites") == "Favourites":
            people = [person for person in people if person.favourite]
        query = ui.text("query").strip().casefold()
        found = [person for person in people if not query or _matches(person, query)][:MAX_ROWS]
        icons = ("users", "star") if ui.version == 2 else ()
        return ui.page(
            "Contacts",
            self._rows(ui, found) or [Empty("Nobody here", "users")],
            head=Pad(
                ui.field("query", "Search contacts", icon="search"), sides=12, top=6, bottom=4
            ),
            tabs=ui.tabs("All", "Favourites", icons=icons),
            primary=("plus", "New contact", lambda: ui.go("edit", 0)),
        )

    def _rows(self, ui: Ui, people: list[Contact]) -> list[Widget]:
        rows: list[Widget] = []
        letter = ""
        for person in people:
            if ui.version == 3 and person.name[:1].upper() != letter:
                letter = person.name[:1].upper()
                rows.append(Heading(letter))
            detail = {1: person.phone, 2: person.label, 3: ""}[ui.version]
            rows.append(
                ListRow(
                    person.name,
                    detail,
                    avatar=person.name,
                    on_tap=partial(ui.go, "contact", person.id),
                )
            )
        return rows

    # One person --------------------------------------------------------------------------------

    def contact(self, ui: Ui, contact_id: int) -> Window:
        person = ui.facts.get(Contact, contact_id)
        actions = [
            IconButton(
                "star_filled" if person.favourite else "star",
                "Remove from favourites" if person.favourite else "Add to favourites",
                lambda: ui.facts.edit(person, favourite=not person.favourite),
                selected=person.favourite,
            ),
            IconButton("edit", "Edit contact", lambda: self._edit(ui, person)),
        ]
        body: list[Widget] = [
            Space(16),
            Avatar(person.name),
            Pad(Text(person.name, "headline", align="centre"), top=10, bottom=2),
        ]
        if person.label:
            body.append(Text(person.label, "small", "muted", align="centre"))
        body += [Pad(self._ways(ui, person), top=14, bottom=12), *self._particulars(ui, person)]

        def delete() -> None:
            ui.go("confirm_delete", contact_id)

        if ui.version == 1:
            actions.append(IconButton("trash", "Delete contact", delete))
        else:
            body.append(ListRow("Delete contact", icon="trash", on_tap=delete))
        return ui.page("Contact", body, actions=actions)

    def _ways(self, ui: Ui, person: Contact) -> Widget:
        """Return the buttons that open the other apps for this person."""
        return Row(
            [
                RoundButton(
                    "phone", "Call", lambda: place_call(ui, person.phone),
                    enabled=bool(person.phone),
                ),
                RoundButton(
                    "message", "Message", lambda: open_chat(ui, person.phone),
                    enabled=bool(person.phone),
                ),
                RoundButton(
                    "mail", "Mail", lambda: ui.launch("Mail", "compose", to=person.email),
                    enabled=bool(person.email),
                ),
            ],
            gap=8,
            align="spread",
        )  # fmt: skip

    def _particulars(self, ui: Ui, person: Contact) -> list[Widget]:
        rows: list[Widget] = []
        if person.phone:
            rows.append(ListRow(person.phone, "Phone", icon="phone"))
        if person.email:
            rows.append(ListRow(person.email, "Email", icon="mail"))
        if person.birthday:
            rows.append(ListRow(birthday_text(person.birthday), "Birthday", icon="gift"))
        else:
            add = partial(ui.go, "birthday_month", person.id)
            rows.append(ListRow("Add birthday", icon="gift", on_tap=add))
        return rows[::-1] if ui.version == 3 else rows

    def confirm_delete(self, ui: Ui, contact_id: int) -> Window:
        person = ui.facts.get(Contact, contact_id)

        def delete() -> None:
            ui.facts.remove(person)
            ui.say("Contact deleted")

        return ui.dialog(
            "Delete contact?",
            f"{person.name} will be removed from this phone.",
            {"Cancel": None, "Delete": delete},
        )

    # The form ----------------------------------------------------------------------------------

    def _edit(self, ui: Ui, person: Contact) -> None:
        ui.go(
            "edit",
            person.id,
            name=person.name,
            phone=person.phone,
            email=person.email,
            birthday=person.birthday,
            label=person.label,
        )

    def edit(self, ui: Ui, contact_id: int) -> Window:
        birthday: tuple[int, int] | None = ui.get("birthday")
        labels = [
            Chip(label, partial(_choose, ui, label), selected=ui.text("label") == label)
            for label in LABELS
        ]
        birthday_row: Widget = ListRow(
            "Birthday",
            birthday_text(birthday) if birthday else "Not set",
            icon="gift",
            on_tap=lambda: ui.go("birthday_month", 0),
        )
        label_box: Widget = Pad(
            Column([Text("Label", "small", "muted"), Flow(labels, gap=6)], gap=6)
        )
        rest = [birthday_row, label_box]
        return ui.page(
            "Edit contact" if contact_id else "New contact",
            [
                Pad(ui.field("name", "Name", icon="user"), top=12, bottom=4),
                Pad(ui.field("phone", "Phone number", icon="phone"), top=4, bottom=4),
                Pad(ui.field("email", "Email", icon="mail"), top=4, bottom=4),
                *(rest[::-1] if ui.version == 2 else rest),
            ],
            actions=[IconButton("check", "Save", lambda: self._save(ui, contact_id))],
        )

    def _save(self, ui: Ui, contact_id: int) -> None:
        name = ui.text("name").strip()
        if not name:
            ui.say("Please give a name")
            return
        fields = {
            "name": name,
            "phone": ui.text("phone").strip(),
            "email": ui.text("email").strip(),
            "birthday": ui.get("birthday"),
            "label": ui.text("label"),
        }
        if contact_id:
            ui.facts.edit(ui.facts.get(Contact, contact_id), **fields)
        else:
            ui.facts.add(Contact(**fields))
        ui.back()
        ui.say("Contact saved")

    def birthday_month(self, ui: Ui, contact_id: int) -> Window:
        """Choose the birthday of a contact, or of the form's draft (id 0): the month first."""
        chips = [
            Chip(name, partial(ui.swap, "birthday_day", contact_id, month))
            for month, name in enumerate(MONTHS, start=1)
        ]
        return ui.dialog("Month of birth", [Grid(chips, 3)], {"Cancel": None})

    def birthday_day(self, ui: Ui, contact_id: int, month: int) -> Window:
        def pick(day: int) -> None:
            ui.back()
            if contact_id:
                ui.facts.edit(ui.facts.get(Contact, contact_id), birthday=(month, day))
            else:
                ui.set("birthday", (month, day))

        days = range(1, DAYS_IN[month - 1] + 1)
        chips = [Chip(str(day), partial(pick, day)) for day in days]
        return ui.dialog("Day of birth", [Grid(chips, 6, gap=5)], {"Cancel": None})


def _matches(person: Contact, query: str) -> bool:
    text = f"{person.name}\n{person.email}\n{person.label}\n{person.phone}".casefold()
    return query in text or (bool(digits(query)) and digits(query) in digits(person.phone))


def _choose(ui: Ui, label: str) -> None:
    """Choose a label, or clear it if it is chosen already."""
    ui.set("label", "" if ui.text("label") == label else label)
