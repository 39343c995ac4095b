"""The pages of Wallet on which money is sent or asked for, from the person to the receipt."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.everyday.money import (
    Account,
    MoneyRequest,
    SavedPayee,
    Transfer,
    WalletSettings,
    can_pay,
    cents_of,
    confirmation_code,
    money,
    pay,
)
from phonesim.contents.people import by_name
from phonesim.contents.timestamps import full
from phonesim.system import Notification
from phonesim.toolkit.boxes import Flow, Pad, Row
from phonesim.toolkit.controls import Button, Chip
from phonesim.toolkit.discs import Avatar
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Icon, Text
from phonesim.toolkit.widget import Widget

MAX_ROWS = 40
ATTEMPTS = 3
QUICK = ("5.00", "10.00", "20.00", "50.00")


def payees(ui: Ui, asking: bool = False) -> Window:
    """Whom to pay, or, `asking`, whom to ask for money."""
    query = ui.text("query").strip().casefold()
    named = [(c.name, c.phone) for c in by_name(ui.facts)]
    named += [(p.name, p.number) for p in ui.facts.all(SavedPayee)]
    found = [(name, detail) for name, detail in named if query in name.casefold()]
    rows: list[Widget] = [
        ListRow(name, detail, avatar=name, on_tap=partial(_choose, ui, name, asking))
        for name, detail in found[:MAX_ROWS]
    ]
    return ui.page(
        "Request from" if asking else "Send to",
        rows or [Empty("Nobody by that name", "users")],
        head=Pad(ui.field("query", "Search people", icon="search"), sides=12, top=6, bottom=4),
        primary=None if asking else ("user_add", "New payee", lambda: ui.go("new_payee")),
    )


def _choose(ui: Ui, name: str, asking: bool) -> None:
    ui.go("ask" if asking else "amount", name)


def new_payee(ui: Ui) -> Window:
    def save() -> None:
        name, number = ui.text("name").strip(), ui.text("number").strip()
        if not name or sum(sign.isdecimal() for sign in number) < 6:
            ui.set("wrong", True)
            return
        ui.facts.add(SavedPayee(name=name, number=number))
        ui.swap("amount", name)

    wrong = "A name, and an account number of at least six digits, please."
    return ui.page(
        "New payee",
        [
            Pad(ui.field("name", "Name"), bottom=0),
            Pad(ui.field("number", "Account number")),
            Pad(Text(wrong if ui.get("wrong") else "Check the number twice.", "small", "muted")),
        ],
        foot=Pad(Button("Save payee", save)),
    )


def amount(ui: Ui, person: str, _: bool = False) -> Window:
    """How much; the balance is checked before anything is reviewed."""

    def go_on() -> None:
        cents = cents_of(ui.text("amount"))
        if cents is None:
            ui.say("Give an amount such as 12.50")
        elif not can_pay(ui.facts, cents):
            ui.go("declined", cents)
        else:
            ui.go("review", person, cents, ui.text("note").strip())

    chips = [Chip(f"${value}", partial(ui.set, "amount", value)) for value in QUICK]
    balance = money(ui.facts.one(Account).balance_cents)
    return ui.page(
        "Amount",
        [
            ListRow(person, "Receives the money", avatar=person),
            Pad(ui.field("amount", "Amount", icon="coin"), bottom=0),
            Pad(Flow(chips), top=4, bottom=0),
            Pad(ui.field("note", "Note", icon="note")),
            Pad(Text(f"You have {balance}", "small", "muted")),
        ],
        foot=Pad(Button("Continue", go_on)),
    )


def review(ui: Ui, person: str, cents: int, note: str) -> Window:
    """The last look before the money goes, or before the code is sent."""
    guarded = cents > ui.facts.one(WalletSettings).code_above_cents

    def send() -> None:
        if not guarded:
            _finish(ui, person, cents, note, pages=2)
            return
        sent = confirmation_code(ui.facts.one(Account), person, cents)
        text = f"{sent} confirms {money(cents)} to {person}"
        ui.facts.add(Notification(0, "Wallet", "Confirmation code", text))
        ui.go("code", person, cents, note)

    hint = "You will get a code." if guarded else "No code is needed for this amount."
    return ui.page(
        "Review",
        [
            Pad(Avatar(person, 72), top=20),
            Pad(Text(money(cents), "headline", align="centre"), top=6, bottom=0),
            Pad(Text(f"to {person}", "body", "muted", align="centre")),
            ListRow("Note", note or "No note", icon="note"),
            ListRow("Fee", money(0), icon="coin"),
            Pad(Text(hint, "small", "muted")),
        ],
        foot=Pad(Button("Send money", send)),
    )


def code(ui: Ui, person: str, cents: int, note: str) -> Window:
    """The code must be that of the notification; the third wrong one ends it."""
    tries = int(ui.get("tries", 0))

    def confirm() -> None:
        wanted = confirmation_code(ui.facts.one(Account), person, cents)
        if ui.text("code").strip() == wanted:
            ui.facts.remove_where(Notification, lambda n: n.title == "Confirmation code")
            _finish(ui, person, cents, note, pages=3)
        elif tries + 1 >= ATTEMPTS:
            ui.back(3)
            ui.say("Too many wrong codes. Nothing was sent")
        else:
            ui.set("tries", tries + 1)

    said = (
        f"Wrong code, {ATTEMPTS - tries} attempts left" if tries else "Look at your notifications"
    )
    return ui.page(
        "Confirm",
        [
            Pad(Icon("shield", 56, "primary"), top=24),
            Pad(Text(f"{money(cents)} to {person}", "title", align="centre")),
            Pad(Text("We sent you a code of four digits.", "body", "muted", align="centre")),
            Pad(ui.field("code", "Confirmation code", icon="key")),
            Pad(Text(said, "small", "danger" if tries else "muted", align="centre")),
        ],
        foot=Pad(Button("Confirm", confirm)),
    )


def _finish(ui: Ui, person: str, cents: int, note: str, pages: int) -> None:
    paid = pay(ui.facts, person, cents, note, ui.now)
    ui.back(pages)
    ui.go("receipt", paid.id)


def receipt(ui: Ui, transfer_id: int) -> Window:
    paid = ui.facts.get(Transfer, transfer_id)
    return ui.page(
        "Done",
        [
            Pad(Icon("check_circle", 72, "primary"), top=40),
            Pad(Text(f"{money(paid.cents)} sent", "headline", align="centre")),
            Pad(Text(f"to {paid.person}", "body", align="centre"), top=0),
            Pad(Text(full(paid.time, ui.now, ui.settings.use_24_hour), "small", align="centre")),
        ],
        foot=Pad(Button("Close", ui.back, "soft")),
    )


def declined(ui: Ui, cents: int) -> Window:
    """An error page: the balance does not suffice."""
    balance = money(ui.facts.one(Account).balance_cents)
    return ui.page(
        "Declined",
        [
            Pad(Icon("error", 72, "danger"), top=40),
            Pad(Text("Not enough money", "headline", align="centre")),
            Pad(Text(f"You have {balance}, and this costs {money(cents)}.", align="centre")),
        ],
        foot=Pad(Button("Go back", ui.back, "soft")),
    )


def ask(ui: Ui, person: str) -> Window:
    """Ask somebody for money."""

    def send() -> None:
        cents = cents_of(ui.text("amount"))
        if cents is None:
            ui.say("Give an amount such as 12.50")
            return
        note = ui.text("note").strip()
        ui.facts.add(MoneyRequest(person=person, cents=cents, note=note, ours=True))
        ui.back(2)
        ui.say(f"{person} was asked for {money(cents)}")

    return ui.page(
        "Request money",
        [
            Row([Pad(Avatar(person, 56), top=16)], align="spread"),
            Pad(Text(f"{person} will get your request", "small", "muted", align="centre")),
            Pad(ui.field("amount", "Amount", icon="coin"), bottom=0),
            Pad(ui.field("note", "Note", icon="note")),
        ],
        foot=Pad(Button("Send request", send)),
    )
