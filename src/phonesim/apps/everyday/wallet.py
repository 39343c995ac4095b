"""Wallet: the balance, sending and requesting money, bills, cards, savings and tickets.

A payment above the limit in the settings needs a code, which arrives as a notification.
"""

from __future__ import annotations

import random
from datetime import datetime
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.apps.everyday import wallet_cards, wallet_payments
from phonesim.apps.everyday.switches import switch_rows
from phonesim.contents.everyday.money import (
    Account,
    Bill,
    MoneyRequest,
    PaymentCard,
    SavedPayee,
    SavingsPot,
    Ticket,
    Transfer,
    WalletSettings,
    can_pay,
    furnish_money,
    money,
    pay,
)
from phonesim.contents.timestamps import full, short
from phonesim.drawing.colors import WHITE
from phonesim.facts import Facts
from phonesim.toolkit.boxes import Card, Column, Flow, Pad, Row
from phonesim.toolkit.charts import Columns
from phonesim.toolkit.controls import Button, Chip, IconButton
from phonesim.toolkit.discs import Avatar, RoundButton
from phonesim.toolkit.month import day_words
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

COVER = (38, 70, 83)
SOFT = (206, 222, 228)
MAX_ROWS = 40
SWITCHES = {
    "hide_balance": "Hide balance",
    "payment_alerts": "Payment alerts",
    "monthly_report": "Monthly report",
    "round_up": "Round up to savings",
    "contactless": "Contactless payments",
    "share_activity": "Share activity with partners",
}
CODE_LIMITS = (0, 20_00, 50_00, 100_00)
WRONGS = ("I do not know this payment", "The amount is wrong", "It was paid twice")
WEEKS = ("3 weeks ago", "2 weeks ago", "Last week", "This week")
QUESTIONS = {
    "When do I need a code?": "Whenever you pay more than the limit that you chose in Settings.",
    "Can I take a payment back?": "No. Report it, and we ask the other side to return the money.",
    "I lost my card": "Freeze it at once: Cards, your card, Freeze. You can unfreeze it later.",
}


class WalletApp(App):
    """A first page with the balance; everything else is one tap away."""

    name = "Wallet"
    icon = "wallet"
    color = COVER
    preinstalled = False
    kinds = (
        Account, Transfer, MoneyRequest, Bill, PaymentCard, SavingsPot, Ticket, SavedPayee,
        WalletSettings,
    )  # fmt: skip

    network_pages = frozenset(
        ("payees", "amount", "review", "code", "ask", "request", "confirm_bill", "report", "pot")
    )

    payees = staticmethod(wallet_payments.payees)
    new_payee = staticmethod(wallet_payments.new_payee)
    amount = staticmethod(wallet_payments.amount)
    review = staticmethod(wallet_payments.review)
    code = staticmethod(wallet_payments.code)
    receipt = staticmethod(wallet_payments.receipt)
    declined = staticmethod(wallet_payments.declined)
    ask = staticmethod(wallet_payments.ask)
    cards = staticmethod(wallet_cards.cards)
    card = staticmethod(wallet_cards.card)
    card_limit = staticmethod(wallet_cards.card_limit)
    confirm_freeze = staticmethod(wallet_cards.confirm_freeze)
    tickets = staticmethod(wallet_cards.tickets)
    ticket = staticmethod(wallet_cards.ticket)
    confirm_remove_ticket = staticmethod(wallet_cards.confirm_remove_ticket)
    savings = staticmethod(wallet_cards.savings)
    pot = staticmethod(wallet_cards.pot)
    new_pot = staticmethod(wallet_cards.new_pot)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_money(facts, rng, now)

    def home(self, ui: Ui) -> Window:
        account, settings = ui.facts.one(Account), ui.facts.one(WalletSettings)
        balance = "• • • •" if settings.hide_balance else money(account.balance_cents, ui.language)
        cover = Column(
            [
                Text(ui.tr("Balance"), "small", SOFT),
                Text(balance, "headline", WHITE),
                Text(ui.tr("Account {number}", number=account.number), "tiny", SOFT),
            ],
            gap=4,
        )
        buttons = [
            RoundButton("send", ui.tr("Send"), lambda: ui.go("payees")),
            RoundButton("incoming", ui.tr("Request"), lambda: ui.go("payees", True)),
            RoundButton("file", ui.tr("Bills"), lambda: ui.go("bills")),
            RoundButton("card", ui.tr("Cards"), lambda: ui.go("cards")),
        ]
        more = [
            Chip(ui.tr(label), partial(ui.go, page))
            for label, page in (
                ("Tickets", "tickets"), ("Savings", "savings"), ("Requests", "requests"),
                ("Statement", "statement"),
            )
        ]  # fmt: skip
        top: list[Widget] = [
            Pad(Card(cover, pad=16, color=COVER), sides=12),
            Pad(Row(buttons, align="spread"), top=10),
            Pad(Flow(more), top=2, bottom=4),
        ]
        recent = sorted(ui.facts.all(Transfer), key=lambda t: (t.time, t.id), reverse=True)
        return ui.page(
            ui.tr("Wallet"),
            [*top, Heading(ui.tr("Recent")), *(_row(ui, transfer) for transfer in recent[:4])],
            actions=[
                IconButton("history", ui.tr("All activity"), lambda: ui.go("activity")),
                IconButton("settings", ui.tr("Wallet settings"), lambda: ui.go("settings")),
            ],
        )

    # What went in and out ----------------------------------------------------------------------

    def activity(self, ui: Ui) -> Window:
        query, way = ui.text("query").casefold(), ui.text("way", "All")
        found = [
            transfer
            for transfer in ui.facts.all(Transfer)
            if query in f"{transfer.person} {transfer.note}".casefold()
            and (way == "All" or (transfer.cents > 0) is (way == "Sent"))
        ]
        found.sort(key=lambda t: (t.time, t.id), reverse=True)
        chips = [
            Chip(ui.tr(label), partial(ui.set, "way", label), way == label)
            for label in ("All", "Sent", "Received")
        ]
        search = ui.field("query", ui.tr("Search activity"), icon="search")
        return ui.page(
            ui.tr("Activity"),
            [_row(ui, t) for t in found[:MAX_ROWS]]
            or [Empty(ui.tr("No payments found"), "search")],
            head=Pad(Column([search, Row(chips)], gap=6), sides=12, top=6, bottom=4),
        )

    def payment(self, ui: Ui, transfer_id: int) -> Window:
        transfer = ui.facts.get(Transfer, transfer_id)
        way = "Received from {name}" if transfer.cents < 0 else "Sent to {name}"
        status = "Reported" if transfer.reported else "Completed"
        rows: list[Widget] = [
            Pad(Avatar(transfer.person, 64), top=16),
            Pad(Text(money(abs(transfer.cents), ui.language), "headline", align="centre"), top=4),
            Pad(Text(ui.tr(way, name=transfer.person), "body", "muted", align="centre"), top=0),
            ListRow(ui.tr("Note"), transfer.note or ui.tr("No note"), icon="note"),
            ListRow(
                ui.tr("When"),
                full(transfer.time, ui.now, ui.settings.use_24_hour, ui.language),
                icon="clock",
            ),
            ListRow(ui.tr("Status"), ui.tr(status), icon="check"),
        ]
        report = Button(ui.tr("Report a problem"), lambda: ui.go("report", transfer_id), "danger")
        again = Button(
            ui.tr("Pay again"),
            lambda: ui.go("amount", transfer.person, False),
            "soft",
            icon="refresh",
        )
        return ui.page(ui.tr("Payment"), [*rows, Pad(Column([again, report], gap=8))])

    def report(self, ui: Ui, transfer_id: int) -> Window:
        transfer = ui.facts.get(Transfer, transfer_id)

        def send() -> None:
            ui.facts.edit(transfer, reported=True)
            ui.say(ui.tr("Reported. We look into it"))

        return ui.sheet(ui.tr("What is wrong?"), dict.fromkeys(map(ui.tr, WRONGS), send))

    def statement(self, ui: Ui) -> Window:
        spent = [0] * 4
        for transfer in ui.facts.all(Transfer):
            weeks = (ui.now.date() - transfer.time.date()).days // 7
            if transfer.cents > 0 and 0 <= weeks < 4:
                spent[3 - weeks] += transfer.cents
        rows = [
            ListRow(ui.tr(week), trailing=money(cents, ui.language))
            for week, cents in zip(WEEKS, spent, strict=True)
        ]
        month = f"{ui.language.formats.months_short[ui.now.month - 1]} {ui.now.year}"
        return ui.page(
            ui.tr("Statement"),
            [
                Pad(Text(ui.tr("Spent until {month}", month=month), "small", "muted")),
                Pad(Columns(spent, ("-3", "-2", "-1", ui.tr("now")))),
                *rows,
                ListRow(ui.tr("Together"), trailing=money(sum(spent), ui.language), bold=True),
            ],
        )

    # Requests and bills ------------------------------------------------------------------------

    def requests(self, ui: Ui) -> Window:
        tab = ui.tab("From others", "From you")
        found = [r for r in ui.facts.all(MoneyRequest) if r.ours is (tab == "From you")]
        rows = [
            ListRow(
                request.person,
                request.note,
                trailing=money(request.cents, ui.language),
                avatar=request.person,
                on_tap=partial(ui.go, "request", request.id),
            )
            for request in found
        ]
        empty = Empty(ui.tr("Nobody asks you for money"), "coin")
        return ui.page(
            ui.tr("Requests"),
            rows or [empty],
            tabs=ui.tabs(ui.tr("From others"), ui.tr("From you")),
        )

    def request(self, ui: Ui, request_id: int) -> Window:
        request = ui.facts.get(MoneyRequest, request_id)

        def accept() -> None:
            if not can_pay(ui.facts, request.cents):
                ui.go("declined", request.cents)
                return
            ui.facts.remove(request)
            paid = pay(ui.facts, request.person, request.cents, request.note, ui.now)
            ui.swap("receipt", paid.id)

        def decline() -> None:
            ui.facts.remove(request)
            ui.back()
            ui.say(ui.tr("Request declined"))

        words = ui.tr(
            "You asked {name}" if request.ours else "{name} asks you for", name=request.person
        )
        buttons: list[Widget] = [Button(ui.tr("Withdraw"), decline, "soft")]
        if not request.ours:
            buttons = [
                Button(ui.tr("Decline|request"), decline, "soft"),
                Button(ui.tr("Pay request"), accept),
            ]
        return ui.page(
            ui.tr("Request"),
            [
                Pad(Avatar(request.person, 72), top=20),
                Pad(Text(words, "body", "muted", align="centre")),
                Pad(Text(money(request.cents, ui.language), "headline", align="centre")),
                Pad(Text(request.note, "body", align="centre")),
            ],
            foot=Pad(Row(buttons, align="spread")),
        )

    def bills(self, ui: Ui) -> Window:
        tab = ui.tab("To pay", "Paid")
        found = [bill for bill in ui.facts.all(Bill) if bill.paid is (tab == "Paid")]
        rows = [
            ListRow(
                bill.company,
                _due(ui, bill),
                trailing=money(bill.cents, ui.language),
                icon="check_circle" if bill.paid else "file",
                on_tap=partial(ui.go, "bill", bill.id),
            )
            for bill in sorted(found, key=lambda bill: (bill.due, bill.id))
        ]
        return ui.page(
            ui.tr("Bills"),
            rows or [Empty(ui.tr("No bills"), "file")],
            tabs=ui.tabs(ui.tr("To pay"), ui.tr("Paid")),
        )

    def bill(self, ui: Ui, bill_id: int) -> Window:
        bill = ui.facts.get(Bill, bill_id)

        def automatic() -> None:
            ui.facts.edit(bill, automatic=not bill.automatic)

        pay_now = Button(
            ui.tr("Pay now"), lambda: ui.go("confirm_bill", bill_id), enabled=not bill.paid
        )
        return ui.page(
            bill.company,
            [
                Pad(Text(money(bill.cents, ui.language), "headline"), top=16, bottom=0),
                Pad(Text(ui.tr("Paid") if bill.paid else _due(ui, bill), "body", "muted")),
                ListRow(ui.tr("Reference"), bill.reference, icon="tag"),
                ListRow(
                    ui.tr("Pay automatically"),
                    ui.tr("On the due day"),
                    icon="sync",
                    switch=bill.automatic,
                    on_tap=automatic,
                ),
                ListRow(ui.tr("Account"), ui.facts.one(Account).number, icon="bank"),
            ],
            foot=Pad(pay_now),
        )

    def confirm_bill(self, ui: Ui, bill_id: int) -> Window:
        bill = ui.facts.get(Bill, bill_id)

        def settle() -> None:
            if not can_pay(ui.facts, bill.cents):
                ui.go("declined", bill.cents)
                return
            ui.facts.edit(bill, paid=True)
            paid = pay(ui.facts, bill.company, bill.cents, f"Bill {bill.reference}", ui.now)
            ui.go("receipt", paid.id)

        amount = money(bill.cents, ui.language)
        text = ui.tr("{amount} will be taken from your account.", amount=amount)
        return ui.dialog(
            ui.tr("Pay {name}?", name=bill.company),
            text,
            {ui.tr("Cancel"): None, ui.tr("Pay"): settle},
        )

    # Settings ----------------------------------------------------------------------------------

    def settings(self, ui: Ui) -> Window:
        limit = ui.facts.one(WalletSettings).code_above_cents
        return ui.page(
            ui.tr("Wallet settings"),
            [
                *switch_rows(ui, WalletSettings, SWITCHES),
                ListRow(
                    ui.tr("Ask for a code above"),
                    money(limit, ui.language),
                    icon="shield",
                    on_tap=lambda: ui.go("code_limit"),
                ),
                ListRow(ui.tr("Help"), icon="help", on_tap=lambda: ui.go("help")),
            ],
        )

    def code_limit(self, ui: Ui) -> Window:
        chosen = money(ui.facts.one(WalletSettings).code_above_cents, ui.language)
        choices = {
            money(cents, ui.language): partial(
                ui.facts.change, WalletSettings, code_above_cents=cents
            )
            for cents in CODE_LIMITS
        }
        return ui.sheet(ui.tr("Ask for a code above"), choices, chosen=chosen)

    def help(self, ui: Ui) -> Window:
        rows = [
            ListRow(ui.tr(q), icon="help", on_tap=partial(ui.go, "answer", q)) for q in QUESTIONS
        ]
        return ui.page(ui.tr("Help"), [Heading(ui.tr("Often asked")), *rows])

    def answer(self, ui: Ui, question: str) -> Window:
        words = QUESTIONS.get(question, "We do not know, sorry.")
        return ui.page(
            ui.tr("Help"), [Pad(Text(ui.tr(question), "title")), Pad(Text(ui.tr(words)))]
        )


def _due(ui: Ui, bill: Bill) -> str:
    day = day_words(bill.due, ui.language)
    return ui.tr("Was due {day}" if bill.paid else "Due {day}", day=day)


def _row(ui: Ui, transfer: Transfer) -> ListRow:
    sign = "+" if transfer.cents < 0 else "-"
    when = short(transfer.time, ui.now, ui.settings.use_24_hour, ui.language)
    return ListRow(
        transfer.person,
        f"{transfer.note} · {when}" if transfer.note else when,
        trailing=f"{sign}{money(abs(transfer.cents), ui.language)}",
        avatar=transfer.person,
        detail_lines=1,
        on_tap=partial(ui.go, "payment", transfer.id),
    )
