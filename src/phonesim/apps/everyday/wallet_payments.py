"""The pages of Wallet to send or request money, from choosing the person to the receipt."""

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
QUICK = (5_00, 10_00, 20_00, 50_00)


def payees(ui: Ui, asking: bool = False) -> Window:
    """Choose whom to pay or, with `asking`, whom to request money from."""
    query = ui.text("query").strip().casefold()
    named = [(c.name, c.phone) for c in by_name(ui.facts)]
    named += [(p.name, p.number) for p in ui.facts.all(SavedPayee)]
    found = [(name, detail) for name, detail in named if query in name.casefold()]
    rows: list[Widget] = [
        ListRow(name, detail, avatar=name, on_tap=partial(_choose, ui, name, asking))
        for name, detail in found[:MAX_ROWS]
    ]
    return ui.page(
        ui.tr("Request from") if asking else ui.tr("Send to"),
        rows or [Empty(ui.tr("Nobody by that name"), "users")],
        head=Pad(
            ui.field("query", ui.tr("Search people"), icon="search"), sides=12, top=6, bottom=4
        ),
        primary=None if asking else ("user_add", ui.tr("New payee"), lambda: ui.go("new_payee")),
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

    wrong = ui.tr("A name, and an account number of at least six digits, please.")
    hint = wrong if ui.get("wrong") else ui.tr("Check the number twice.")
    return ui.page(
        ui.tr("New payee"),
        [
            Pad(ui.field("name", ui.tr("Name")), bottom=0),
            Pad(ui.field("number", ui.tr("Account number"))),
            Pad(Text(hint, "small", "muted")),
        ],
        foot=Pad(Button(ui.tr("Save payee"), save)),
    )


def amount(ui: Ui, person: str, _: bool = False) -> Window:
    """Enter the amount; without enough balance, Continue opens the page `declined`."""

    def go_on() -> None:
        cents = cents_of(ui.text("amount"))
        if cents is None:
            ui.say(ui.tr("Give an amount such as 12.50"))
        elif not can_pay(ui.facts, cents):
            ui.go("declined", cents)
        else:
            ui.go("review", person, cents, ui.text("note").strip())

    chips = [
        Chip(money(cents, ui.language), partial(ui.set, "amount", money(cents)[1:]))
        for cents in QUICK
    ]
    balance = money(ui.facts.one(Account).balance_cents, ui.language)
    return ui.page(
        ui.tr("Amount"),
        [
            ListRow(person, ui.tr("Receives the money"), avatar=person),
            Pad(ui.field("amount", ui.tr("Amount"), icon="coin"), bottom=0),
            Pad(Flow(chips), top=4, bottom=0),
            Pad(ui.field("note", ui.tr("Note"), icon="note")),
            Pad(Text(ui.tr("You have {amount}", amount=balance), "small", "muted")),
        ],
        foot=Pad(Button(ui.tr("Continue"), go_on)),
    )


def review(ui: Ui, person: str, cents: int, note: str) -> Window:
    """Review a payment; Send pays, or sends a code above the limit of the settings."""
    guarded = cents > ui.facts.one(WalletSettings).code_above_cents

    def send() -> None:
        if not guarded:
            _finish(ui, person, cents, note, pages=2)
            return
        sent = confirmation_code(ui.facts.one(Account), person, cents)
        text = ui.tr(
            "{code} confirms {amount} to {name}",
            code=sent,
            amount=money(cents, ui.language),
            name=person,
        )
        ui.facts.add(Notification(0, "Wallet", "Confirmation code", text))
        ui.go("code", person, cents, note)

    hint = "You will get a code." if guarded else "No code is needed for this amount."
    return ui.page(
        ui.tr("Review"),
        [
            Pad(Avatar(person, 72), top=20),
            Pad(Text(money(cents, ui.language), "headline", align="centre"), top=6, bottom=0),
            Pad(Text(ui.tr("to {name}", name=person), "body", "muted", align="centre")),
            ListRow(ui.tr("Note"), note or ui.tr("No note"), icon="note"),
            ListRow(ui.tr("Fee"), money(0, ui.language), icon="coin"),
            Pad(Text(ui.tr(hint), "small", "muted")),
        ],
        foot=Pad(Button(ui.tr("Send money"), send)),
    )


def code(ui: Ui, person: str, cents: int, note: str) -> Window:
    """Enter the code of the notification; the third wrong one cancels the payment."""
    tries = int(ui.get("tries", 0))

    def confirm() -> None:
        wanted = confirmation_code(ui.facts.one(Account), person, cents)
        if ui.text("code").strip() == wanted:
            ui.facts.remove_where(Notification, lambda n: n.title == "Confirmation code")
            _finish(ui, person, cents, note, pages=3)
        elif tries + 1 >= ATTEMPTS:
            ui.back(3)
            ui.say(ui.tr("Too many wrong codes. Nothing was sent"))
        else:
            ui.set("tries", tries + 1)

    said = ui.tr("Look at your notifications")
    if tries:
        said = ui.tr("Wrong code, {count} attempts left", count=ATTEMPTS - tries)
    asked = ui.tr("{amount} to {name}", amount=money(cents, ui.language), name=person)
    return ui.page(
        ui.tr("Confirm"),
        [
            Pad(Icon("shield", 56, "primary"), top=24),
            Pad(Text(asked, "title", align="centre")),
            Pad(Text(ui.tr("We sent you a code of four digits."), "body", "muted", align="centre")),
            Pad(ui.field("code", ui.tr("Confirmation code"), icon="key")),
            Pad(Text(said, "small", "danger" if tries else "muted", align="centre")),
        ],
        foot=Pad(Button(ui.tr("Confirm"), confirm)),
    )


def _finish(ui: Ui, person: str, cents: int, note: str, pages: int) -> None:
    paid = pay(ui.facts, person, cents, note, ui.now)
    ui.back(pages)
    ui.go("receipt", paid.id)


def receipt(ui: Ui, transfer_id: int) -> Window:
    paid = ui.facts.get(Transfer, transfer_id)
    sent = ui.tr("{amount} sent", amount=money(paid.cents, ui.language))
    return ui.page(
        ui.tr("Done"),
        [
            Pad(Icon("check_circle", 72, "primary"), top=40),
            Pad(Text(sent, "headline", align="centre")),
            Pad(Text(ui.tr("to {name}", name=paid.person), "body", align="centre"), top=0),
            Pad(
                Text(
                    full(paid.time, ui.now, ui.settings.use_24_hour, ui.language),
                    "small",
                    align="centre",
                )
            ),
        ],
        foot=Pad(Button(ui.tr("Close"), ui.back, "soft")),
    )


def declined(ui: Ui, cents: int) -> Window:
    """An error page: the balance is too low."""
    words = ui.tr(
        "You have {balance}, and this costs {amount}.",
        balance=money(ui.facts.one(Account).balance_cents, ui.language),
        amount=money(cents, ui.language),
    )
    return ui.page(
        ui.tr("Declined"),
        [
            Pad(Icon("error", 72, "danger"), top=40),
            Pad(Text(ui.tr("Not enough money"), "headline", align="centre")),
            Pad(Text(words, align="centre")),
        ],
        foot=Pad(Button(ui.tr("Go back"), ui.back, "soft")),
    )


def ask(ui: Ui, person: str) -> Window:
    """Request money from a person."""

    def send() -> None:
        cents = cents_of(ui.text("amount"))
        if cents is None:
            ui.say(ui.tr("Give an amount such as 12.50"))
            return
        note = ui.text("note").strip()
        ui.facts.add(MoneyRequest(person=person, cents=cents, note=note, ours=True))
        ui.back(2)
        amount = money(cents, ui.language)
        ui.say(ui.tr("{name} was asked for {amount}", name=person, amount=amount))

    return ui.page(
        ui.tr("Request money"),
        [
            Row([Pad(Avatar(person, 56), top=16)], align="spread"),
            Pad(
                Text(
                    ui.tr("{name} will get your request", name=person),
                    "small",
                    "muted",
                    align="centre",
                )
            ),
            Pad(ui.field("amount", ui.tr("Amount"), icon="coin"), bottom=0),
            Pad(ui.field("note", ui.tr("Note"), icon="note")),
        ],
        foot=Pad(Button(ui.tr("Send request"), send)),
    )
