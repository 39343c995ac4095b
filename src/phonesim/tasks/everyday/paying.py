"""Acts that pay a value, ask for it or set it aside."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.everyday.money import (
    POTS,
    Account,
    Bill,
    MoneyRequest,
    SavingsPot,
    Transfer,
)
from phonesim.contents.everyday.threads import ChatMessage, ChatThread
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.parts import Act, Cents, Value, text_of
from phonesim.tasks.everyday.put import (
    AMOUNTS,
    bill_of,
    chatted,
    not_paid,
    send_money,
    wrong_chat,
)
from phonesim.tasks.general.differences import only_added, only_changed
from phonesim.tasks.general.people import NAMES, known
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import View

POT_NAMES = Domain("savings pots", POTS)


@dataclass(frozen=True)
class SendIt(Act):
    app, steps, takes = "Wallet", 8, ("cents",)
    orders = ("send {it} to {paid} with Wallet", "pay {paid} {it} from my wallet")
    touches = (Account, Transfer)
    high_stakes = True
    paid: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.paid, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        return not_paid(start, end, self.paid, value.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        assert isinstance(value, Cents)
        return send_money(start, self.paid, value.cents)


@dataclass(frozen=True)
class AskForIt(Act):
    app, steps, takes = "Wallet", 7, ("cents",)
    orders = ("request {it} from {debtor} in Wallet", "ask {debtor} for {it} with Wallet")
    touches = (MoneyRequest,)
    debtor: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.debtor, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        wanted = {"person": self.debtor, "cents": value.cents, "ours": True}
        return only_added(start, end, MoneyRequest, **wanted)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Request", role="button")
        yield Fill("Search people", self.debtor)
        yield Press(self.debtor, role="row")
        yield Fill("Amount", text_of(value))
        yield Press("Send request")


@dataclass(frozen=True)
class PutItAside(Act):
    app, steps, takes = "Wallet", 5, ("cents",)
    orders = (
        'put {it} into my savings pot "{pot}" in Wallet',
        'set {it} aside for "{pot}" under Savings in Wallet',
    )
    touches = (Account, SavingsPot)
    pot: str = parameter(POT_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        if not facts.find(SavingsPot, lambda pot: pot.name == self.pot):
            facts.add(SavingsPot(0, self.pot, rng.randrange(20_00, 90_00, 5_00), 400_00))

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        pot = next(each for each in start.all(SavingsPot) if each.name == self.pot)
        wrong = only_changed(start, end, SavingsPot, pot.id, cents=pot.cents + value.cents)
        account = start.one(Account)
        left = account.balance_cents - value.cents
        return wrong or only_changed(start, end, Account, account.id, balance_cents=left)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Savings", role="button")
        yield Press(self.pot)
        yield Fill("Amount", text_of(value))
        yield Press("Put in")


@dataclass(frozen=True)
class ChatPayIt(Act):
    app, steps, takes = "Chat", 7, ("cents",)
    orders = ("send {it} to {paid} as money in Chat", "pay {paid} {it} in our chat")
    touches = (ChatMessage, ChatThread, Account, Transfer)
    high_stakes = True
    paid: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.paid, "I am home now")

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, Cents)
        new = wrong_chat(start, end, self.paid)
        if isinstance(new, str):
            return new
        if new.cents != value.cents:
            return f"{new.cents} cents were sent"
        return not_paid(start, end, self.paid, value.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.paid, role="row")
        yield Press("Attach")
        yield Press("Send money", role="row")
        yield Fill("Amount", text_of(value))
        yield Press("Next")
        yield Press("Pay")


@dataclass(frozen=True)
class PayTheirBill(Act):
    app, steps, takes = "Wallet", 3, ("company",)
    orders = ("pay the bill of {it} in Wallet", "settle what {it} wants from me in Wallet")
    touches = (Bill, Account, Transfer)
    high_stakes = True

    def missing(self, start: View, end: View, value: Value) -> str | None:
        bill = bill_of(start, str(value))
        wrong = only_changed(start, end, Bill, bill.id, paid=True)
        return wrong or not_paid(start, end, bill.company, bill.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        """Start at the list of bills, which the source or the lookup before has opened."""
        yield Press(str(value), role="row")
        yield Press("Pay now")
        yield Press("Pay")


@dataclass(frozen=True)
class PayThem(Act):
    app, steps, takes = "Wallet", 8, ("person",)
    orders = ("send {amount} to {it} with Wallet", "pay {it} {amount} from my wallet")
    touches = (Account, Transfer)
    high_stakes = True
    amount: int = parameter(AMOUNTS)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_paid(start, end, str(value), self.amount)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        return send_money(start, str(value), self.amount)


@dataclass(frozen=True)
class PayPerson(Act):
    app, steps = "Wallet", 8
    orders = ("send {amount} to {paid} with Wallet", "pay {paid} {amount} from my wallet")
    touches = (Account, Transfer)
    high_stakes = True
    paid: str = parameter(NAMES)
    amount: int = parameter(AMOUNTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.paid, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_paid(start, end, self.paid, self.amount)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        return send_money(start, self.paid, self.amount)
