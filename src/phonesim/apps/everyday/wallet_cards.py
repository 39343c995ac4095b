"""The pages of Wallet for cards, tickets and savings."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.everyday.money import (
    CARDS,
    Account,
    PaymentCard,
    SavingsPot,
    Ticket,
    can_pay,
    cents_of,
    money,
)
from phonesim.drawing.colors import WHITE, Color
from phonesim.toolkit.boxes import Card, Column, Grid, Pad, Row
from phonesim.toolkit.charts import Barcode
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.month import day_words
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Icon, Progress, Text
from phonesim.toolkit.widget import Widget

FACES: tuple[Color, ...] = (  # one per name of a card
    (44, 82, 130), (40, 110, 92), (122, 62, 110), (150, 84, 40), (72, 70, 148),
)  # fmt: skip
FROZEN: Color = (116, 126, 138)
SOFT: Color = (226, 232, 240)
LIMITS = (100_00, 300_00, 500_00, 1000_00)


def _face(ui: Ui, card: PaymentCard) -> Card:
    number = CARDS.index(card.name) if card.name in CARDS else card.id
    look = FROZEN if card.frozen else FACES[number % len(FACES)]
    words = Column(
        [
            Row([Text(card.name, "title", WHITE), Icon("card", 26, WHITE)], stretch=0),
            Text(f"•••• {card.digits}", "body", SOFT),
            Text(ui.tr("Frozen") if card.frozen else ui.tr("Active"), "small", SOFT),
        ],
        gap=10,
    )
    return Card(words, card.name, pad=16, color=look)


def cards(ui: Ui) -> Window:
    shown: list[Widget] = []
    for card in ui.facts.all(PaymentCard):
        face = _face(ui, card)
        face.on_tap = partial(ui.go, "card", card.id)
        shown.append(Pad(face, sides=16, top=6, bottom=6))
    return ui.page(ui.tr("Cards"), shown or [Empty(ui.tr("No cards"), "card")])


def card(ui: Ui, card_id: int) -> Window:
    card = ui.facts.get(PaymentCard, card_id)

    def thaw() -> None:
        ui.facts.edit(card, frozen=False)
        ui.say(ui.tr("Card unfrozen"))

    freeze = (
        Button(ui.tr("Unfreeze"), thaw, "soft", icon="sun")
        if card.frozen
        else Button(
            ui.tr("Freeze"), lambda: ui.go("confirm_freeze", card_id), "soft", icon="snowflake"
        )
    )
    return ui.page(
        ui.tr("Card"),
        [
            Pad(_face(ui, card), sides=16),
            ListRow(
                ui.tr("Monthly limit"),
                money(card.limit_cents, ui.language),
                icon="tune",
                on_tap=lambda: ui.go("card_limit", card_id),
            ),
            ListRow(
                ui.tr("Online payments"),
                icon="globe",
                switch=card.online,
                on_tap=lambda: ui.facts.edit(card, online=not card.online),
            ),
        ],
        foot=Pad(freeze),
    )


def card_limit(ui: Ui, card_id: int) -> Window:
    card = ui.facts.get(PaymentCard, card_id)
    choices = {
        money(cents, ui.language): partial(ui.facts.edit, card, limit_cents=cents)
        for cents in LIMITS
    }
    return ui.sheet(ui.tr("Monthly limit"), choices, chosen=money(card.limit_cents, ui.language))


def confirm_freeze(ui: Ui, card_id: int) -> Window:
    card = ui.facts.get(PaymentCard, card_id)
    return ui.dialog(
        ui.tr("Freeze this card?"),
        ui.tr("“{name}” cannot pay until you unfreeze it.", name=card.name),
        {ui.tr("Cancel"): None, ui.tr("Freeze card"): lambda: ui.facts.edit(card, frozen=True)},
    )


def tickets(ui: Ui) -> Window:
    found = sorted(ui.facts.all(Ticket), key=lambda ticket: (ticket.day, ticket.id))
    rows: list[Widget] = [
        ListRow(
            ticket.title,
            f"{ticket.detail}\n{day_words(ticket.day, ui.language)}",
            icon="ticket",
            on_tap=partial(ui.go, "ticket", ticket.id),
        )
        for ticket in found
    ]
    return ui.page(ui.tr("Tickets"), rows or [Empty(ui.tr("No tickets"), "ticket")])


def ticket(ui: Ui, ticket_id: int) -> Window:
    shown = ui.facts.get(Ticket, ticket_id)
    body = Column(
        [
            Text(shown.title, "title"),
            Text(shown.detail, "body", "muted"),
            Text(day_words(shown.day, ui.language, year=True), "body", "primary"),
            Barcode(shown.code),
        ],
        gap=10,
    )
    remove = IconButton("trash", ui.tr("Remove"), lambda: ui.go("confirm_remove_ticket", ticket_id))
    return ui.page(ui.tr("Ticket"), [Pad(Card(body, pad=18), top=16)], actions=[remove])


def confirm_remove_ticket(ui: Ui, ticket_id: int) -> Window:
    shown = ui.facts.get(Ticket, ticket_id)
    return ui.dialog(
        ui.tr("Remove ticket?"),
        ui.tr("“{name}” will be gone from your wallet.", name=shown.title),
        {ui.tr("Cancel"): None, ui.tr("Remove ticket"): lambda: ui.facts.remove(shown)},
    )


def _goal(ui: Ui, pot: SavingsPot) -> str:
    return ui.tr("of {amount}", amount=money(pot.goal_cents, ui.language))


def savings(ui: Ui) -> Window:
    tiles: list[Widget] = [
        Card(
            Column(
                [
                    Text(pot.name, "strong"),
                    Text(money(pot.cents, ui.language), "title", "primary"),
                    Progress(pot.cents / max(1, pot.goal_cents)),
                    Text(_goal(ui, pot), "tiny", "muted"),
                ],
                gap=6,
            ),
            pot.name,
            on_tap=partial(ui.go, "pot", pot.id),
        )
        for pot in ui.facts.all(SavingsPot)
    ]
    body: Widget = (
        Pad(Grid(tiles, 2, 10), sides=12) if tiles else Empty(ui.tr("No savings"), "coin")
    )
    return ui.page(
        ui.tr("Savings"), [body], primary=("plus", ui.tr("New pot"), lambda: ui.go("new_pot"))
    )


def pot(ui: Ui, pot_id: int) -> Window:
    pot = ui.facts.get(SavingsPot, pot_id)

    def move(way: int) -> None:
        cents, account = cents_of(ui.text("amount")), ui.facts.one(Account)
        if cents is None:
            ui.say(ui.tr("Give an amount such as 12.50"))
        elif (way > 0 and not can_pay(ui.facts, cents)) or (way < 0 and cents > pot.cents):
            ui.say(ui.tr("There is not that much"))
        else:
            ui.facts.edit(account, balance_cents=account.balance_cents - way * cents)
            ui.facts.edit(pot, cents=pot.cents + way * cents)
            ui.set("amount", "")
            ui.say(ui.tr("Moved {amount}", amount=money(cents, ui.language)))

    buttons = [
        Button(ui.tr("Take out"), lambda: move(-1), "soft"),
        Button(ui.tr("Put in"), lambda: move(1)),
    ]
    goal = ui.tr("Your goal is {amount}", amount=money(pot.goal_cents, ui.language))
    return ui.page(
        pot.name,
        [
            Pad(Text(money(pot.cents, ui.language), "headline"), top=16, bottom=2),
            Pad(Progress(pot.cents / max(1, pot.goal_cents), ui.tr("Reached")), top=2),
            Pad(Text(goal, "small", "muted")),
            Pad(ui.field("amount", ui.tr("Amount"), icon="coin")),
        ],
        foot=Pad(Row(buttons, align="spread")),
    )


def new_pot(ui: Ui) -> Window:
    def save() -> None:
        name, goal = ui.text("name").strip(), cents_of(ui.text("goal"))
        if not name or goal is None:
            ui.say(ui.tr("A name and a goal, please"))
            return
        ui.facts.add(SavingsPot(name=name, goal_cents=goal))
        ui.back()

    return ui.page(
        ui.tr("New pot"),
        [
            Pad(ui.field("name", ui.tr("What for?")), bottom=0),
            Pad(ui.field("goal", ui.tr("Goal"), icon="flag")),
        ],
        actions=[IconButton("check", ui.tr("Save"), save)],
    )
