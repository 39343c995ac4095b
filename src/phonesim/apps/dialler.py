"""Phone: a dial pad, the call log, contacts, and the call itself.

The records and the start of a call are in `calls`, since other apps start calls, too.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.contents.calls import (
    DIRECTIONS,
    BlockedNumber,
    Call,
    blocked_number,
    end_call,
    lasting,
    place_call,
)
from phonesim.contents.conversations import open_chat
from phonesim.contents.people import (
    Contact,
    by_name,
    caller,
    contact_of,
    names_by_number,
    number_for,
)
from phonesim.contents.timestamps import full, short
from phonesim.drawing.colors import Color
from phonesim.facts import Facts, MissingFact
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Grid, Pad, Row, Space
from phonesim.toolkit.controls import Chip, IconButton
from phonesim.toolkit.discs import Avatar, DialKey, RoundButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Text
from phonesim.toolkit.widget import Widget

SHOWN_AS = {"incoming": "Incoming call", "outgoing": "Outgoing call", "missed": "Missed call"}
ICONS = {"incoming": "down", "outgoing": "up", "missed": "close"}
KEYS = {
    "1": "", "2": "ABC", "3": "DEF", "4": "GHI", "5": "JKL", "6": "MNO", "7": "PQRS", "8": "TUV",
    "9": "WXYZ", "*": "", "0": "+", "#": "",
}  # fmt: skip
TABS = ("Keypad", "Recents", "Contacts")
GREEN: Color = (30, 142, 72)
RED: Color = (206, 48, 52)
MAX_ROWS = 40
FIRST_CALLS = 12
QUIET = timedelta(hours=2)  # minimum age of initial calls, so that calls of tasks are newer


class DiallerApp(App):
    """Three tabs: keypad, recent calls, contacts."""

    name = "Phone"
    icon = "phone"
    color = (30, 142, 72)
    kinds = (Call, BlockedNumber)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        numbers = [contact.phone for contact in facts.all(Contact)]
        numbers += [number_for(rng) for _ in range(3)]
        time, calls = now - QUIET, []
        for _ in range(FIRST_CALLS):
            time -= timedelta(minutes=rng.randrange(10, 600))
            direction = rng.choice(DIRECTIONS)
            seconds = 0 if direction == "missed" else rng.randrange(8, 1500)
            calls.append(Call(0, rng.choice(numbers), direction, time, seconds))
        for call in reversed(calls):
            facts.add(call)
        for _ in range(2):
            facts.add(BlockedNumber(number=number_for(rng)))

    # The three tabs ----------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        tab = ui.tab(*TABS)
        ongoing = ui.facts.find(Call, lambda c: not c.ended)
        body = {"Keypad": self._keypad, "Recents": self._recents, "Contacts": self._people}[tab](ui)
        if ongoing:
            back_to = partial(ui.go, "in_call", ongoing.id)
            body.insert(0, ListRow("Return to call", icon="phone", selected=True, on_tap=back_to))
        return ui.page(
            "Phone",
            body,
            tabs=ui.tabs(*TABS, icons=() if ui.version == 2 else ("grid", "clock", "users")),
            actions=[IconButton("more", "More options", lambda: ui.go("options"))],
        )

    def _keypad(self, ui: Ui) -> list[Widget]:
        number = ui.text("number")
        known = contact_of(ui.facts, number) if number else None
        size = 62 if ui.version == 2 else 64
        keys = [
            DialKey(digit, letters, partial(ui.set, "number", number + digit), size)
            for digit, letters in KEYS.items()
        ]
        erase: Widget = Space(40, 40)
        if number:
            erase = IconButton("back", "Erase digit", lambda: ui.set("number", number[:-1]))
        call = RoundButton(
            "phone", "Call", lambda: self._dial(ui, number), px=60, fill=GREEN, caption=False
        )
        return [
            Pad(Text(number or " ", "headline", align="centre", max_lines=1), top=14, bottom=0),
            Pad(Text(known.name if known else " ", "small", "muted", align="centre"), top=0),
            Pad(Grid(keys, 3, gap=10), sides=36, top=2, bottom=12),
            Pad(Grid([Space(40, 40), call, erase], 3), sides=36, top=0),
        ]

    def _dial(self, ui: Ui, number: str) -> None:
        if number:
            ui.set("number", "")
            place_call(ui, number)
        else:
            ui.say("Dial a number first")

    def _recents(self, ui: Ui) -> list[Widget]:
        names = names_by_number(ui.facts)
        only_missed = bool(ui.get("missed", False))
        calls = [c for c in ui.facts.all(Call) if not only_missed or c.direction == "missed"]
        calls.sort(key=lambda c: c.time, reverse=True)
        chips = [
            Chip("All calls", partial(ui.set, "missed", False), selected=not only_missed),
            Chip("Missed", partial(ui.set, "missed", True), selected=only_missed),
        ]
        rows = [self._call_row(ui, call, names) for call in calls[:MAX_ROWS]]
        return [Pad(Row(chips)), *(rows or [Empty("No calls", "phone")])]

    def _call_row(self, ui: Ui, call: Call, names: dict[str, str]) -> Widget:
        name = caller(names, call.number)
        return ListRow(
            name,
            SHOWN_AS[call.direction],
            trailing=short(call.time, ui.now, ui.settings.use_24_hour),
            icon=ICONS[call.direction] if ui.version != 2 else "",
            avatar=name if ui.version == 2 else "",
            bold=call.direction == "missed",
            on_tap=partial(ui.go, "details", call.id),
            button=("phone", f"Call {name}", partial(place_call, ui, call.number)),
        )

    def _people(self, ui: Ui) -> list[Widget]:
        people = [person for person in by_name(ui.facts) if person.phone]
        rows: list[Widget] = [
            ListRow(
                person.name,
                person.phone,
                avatar=person.name,
                on_tap=partial(ui.launch, "Contacts", "contact", person.id),
                button=("phone", f"Call {person.name}", partial(place_call, ui, person.phone)),
            )
            for person in people[:MAX_ROWS]
        ]
        return rows or [Empty("No contacts", "users")]

    # One call of the log -----------------------------------------------------------------------

    def details(self, ui: Ui, call_id: int) -> Window:
        call = ui.facts.get(Call, call_id)
        known = contact_of(ui.facts, call.number)
        name = known.name if known else call.number
        rows: list[Widget] = [
            Space(12),
            Avatar(name, 76),
            Pad(Text(name, "headline", align="centre", max_lines=2), top=8, bottom=10),
            Row([
                RoundButton("phone", "Call", lambda: place_call(ui, call.number)),
                RoundButton("message", "Message", lambda: open_chat(ui, call.number)),
                self._contact_button(ui, call, known),
            ], gap=8, align="spread"),
            Space(10),
            ListRow(call.number, "Number", icon="grid"),
            ListRow(SHOWN_AS[call.direction], full(call.time, ui.now, ui.settings.use_24_hour),
                    icon=ICONS[call.direction]),
        ]  # fmt: skip
        if call.direction != "missed":
            rows.append(ListRow(lasting(call.seconds), "Duration", icon="timer"))
        return ui.page("Call details", rows + self._chores(ui, call))

    def _contact_button(self, ui: Ui, call: Call, known: Contact | None) -> Widget:
        if known:
            open_contact = partial(ui.launch, "Contacts", "contact", known.id)
            return RoundButton("user", "Contact", open_contact)
        add = partial(ui.launch, "Contacts", "edit", 0, phone=call.number)
        return RoundButton("plus", "Add contact", add)

    def _chores(self, ui: Ui, call: Call) -> list[Widget]:
        blocked = blocked_number(ui.facts, call.number)
        block: Handler = partial(ui.go, "confirm_block", call.number)
        if blocked:
            block = partial(ui.facts.remove, blocked)
        rows: list[Widget] = [
            ListRow("Unblock number" if blocked else "Block number", icon="warning", on_tap=block),
            ListRow("Delete call", icon="trash", on_tap=lambda: self._delete(ui, call)),
        ]
        return rows[::-1] if ui.version == 3 else rows

    def _delete(self, ui: Ui, call: Call) -> None:
        ui.facts.remove(call)
        ui.back()
        ui.say("Call deleted")

    def confirm_block(self, ui: Ui, number: str) -> Window:
        def block() -> None:
            ui.facts.add(BlockedNumber(number=number))
            ui.say("Number blocked")

        return ui.dialog(
            f"Block {number}?",
            "Calls and messages from this number will not come through any more.",
            {"Cancel": None, "Block": block},
        )

    # Options -----------------------------------------------------------------------------------

    def options(self, ui: Ui) -> Window:
        return ui.menu(
            {
                "Blocked numbers": lambda: ui.go("blocked_numbers"),
                "Clear call log": lambda: ui.go("confirm_clear"),
            }
        )

    def confirm_clear(self, ui: Ui) -> Window:
        def clear() -> None:
            ui.facts.remove_where(Call, lambda c: c.ended)
            ui.say("Call log cleared")

        return ui.dialog(
            "Clear call log?", "All calls in the log go.", {"Cancel": None, "Clear": clear}
        )

    def blocked_numbers(self, ui: Ui) -> Window:
        names = names_by_number(ui.facts)
        rows: list[Widget] = []
        for blocked in ui.facts.all(BlockedNumber)[:MAX_ROWS]:
            name = caller(names, blocked.number)
            unblock = partial(ui.facts.remove, blocked)
            rows.append(
                ListRow(
                    name,
                    "Blocked" if name == blocked.number else blocked.number,
                    icon="warning",
                    button=("close", f"Unblock {blocked.number}", unblock),
                )
            )
        return ui.page("Blocked numbers", rows or [Empty("No blocked numbers", "phone")])

    # The call itself ---------------------------------------------------------------------------

    def in_call(self, ui: Ui, call_id: int) -> Window:
        call = ui.facts.get(Call, call_id)
        if call.ended:
            raise MissingFact("the call is over")
        name = caller(names_by_number(ui.facts), call.number)
        seconds = int((ui.now - call.time).total_seconds())
        running = f"{seconds // 60:02}:{seconds % 60:02}" if seconds else "Calling…"
        speaker = RoundButton(
            "volume", "Speaker", lambda: ui.facts.edit(call, speaker=not call.speaker),
            selected=call.speaker,
        )  # fmt: skip
        mute = RoundButton(
            "microphone", "Mute", lambda: ui.facts.edit(call, muted=not call.muted),
            selected=call.muted,
        )  # fmt: skip
        message = RoundButton("message", "Message", lambda: open_chat(ui, call.number))
        row = [mute, message, speaker] if ui.version != 3 else [speaker, mute, message]
        hang_up = RoundButton(
            "hangup", "Hang up", lambda: self._hang_up(ui, call), px=64, fill=RED, caption=False
        )
        return ui.page(
            "Call",
            [
                Space(48),
                Avatar(name, 112),
                Pad(Text(name, "headline", align="centre", max_lines=2), top=18, bottom=2),
                Text(call.number if name != call.number else " ", "small", "muted", align="centre"),
                Pad(Text(running, "title", "muted", align="centre"), top=10, bottom=44),
                Row(row, gap=8, align="spread"),
                Space(40),
                hang_up,
            ],
        )

    def _hang_up(self, ui: Ui, call: Call) -> None:
        end_call(ui, call)
        ui.back()
        ui.say("Call ended")
