"""Tasks in the app Wallet about money that is sent, asked for and owed."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from distrl.records import Difficulty
from phonesim.contents.everyday.money import (
    Account,
    Bill,
    MoneyRequest,
    Transfer,
    money,
)
from phonesim.facts import Facts
from phonesim.tasks.answers import states_number
from phonesim.tasks.domains import parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.put import (
    AMOUNTS,
    COMPANIES,
    LARGE_AMOUNTS,
    NOTES,
    bill_of,
    not_paid,
    put_bill,
    send_money,
)
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.general.people import NAMES, known
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal, Say
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class SendWithNote(Errand):
    name = "wallet.send"
    apps = ("Wallet",)
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        'Send {amount} to {person} with Wallet, with the note "{note}"',
        'Pay {person} {amount} from my wallet. The note should say "{note}"',
        'In Wallet, transfer {amount} to {person} and write "{note}" as the note',
    )
    touches = (Account, Transfer)
    person: str = parameter(NAMES)
    amount: int = parameter(AMOUNTS)
    note: str = parameter(NOTES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        return not_paid(start, end, self.person, self.amount, lambda n: same_text(n, self.note))

    def solve(self, start: View) -> Iterable[Move]:
        return send_money(start, self.person, self.amount, self.note)


@dataclass(frozen=True)
class SendWithCode(Errand):
    name = "wallet.send_with_code"
    apps = ("Wallet",)
    difficulty: ClassVar[Difficulty] = "long"
    high_stakes = True
    phrasings = (
        "Send {amount} to {person} with Wallet. A code will come as a notification",
        "Transfer {amount} to {person} in Wallet and confirm it with the code you get",
        "Pay {person} {amount} from my wallet; look at the notifications for the code",
    )
    touches = (Account, Transfer)
    person: str = parameter(NAMES)
    amount: int = parameter(LARGE_AMOUNTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        return not_paid(start, end, self.person, self.amount)

    def solve(self, start: View) -> Iterable[Move]:
        return send_money(start, self.person, self.amount)


@dataclass(frozen=True)
class SendCorrected(SendWithCode):
    name = "wallet.send_corrected"
    difficulty = "hard"
    phrasings = (
        "Send {amount} to {slip} with Wallet. No, not {slip}, to {person}",
        "Pay {slip} {amount} from my wallet. Sorry, I meant {person}, not {slip}",
        "Transfer {amount} in Wallet to {slip}. Wait: it should go to {person} instead",
    )
    amount: int = parameter(AMOUNTS)
    slip: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.slip, rng)
        known(facts, self.person, rng)


@dataclass(frozen=True)
class PayBill(Errand):
    name = "wallet.pay_bill"
    apps = ("Wallet",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        "Pay the bill of {company} in Wallet",
        "Settle the open bill from {company} with my wallet",
        "{company} is waiting for its money. Pay that bill in Wallet, and no other",
    )
    touches = (Bill, Account, Transfer)
    company: str = parameter(COMPANIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_bill(facts, rng, self.company)

    def missing(self, start: View, end: View) -> str | None:
        bill = bill_of(start, self.company)
        wrong = only_changed(start, end, Bill, bill.id, paid=True)
        return wrong or not_paid(start, end, bill.company, bill.cents)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Bills")
        yield Press(self.company, role="row")
        yield Press("Pay now")
        yield Press("Pay")


@dataclass(frozen=True)
class AutomaticBill(Errand):
    name = "wallet.automatic_bill"
    apps = ("Wallet",)
    difficulty = "medium"
    phrasings = (
        "Let Wallet pay the bill of {company} automatically",
        "Switch on automatic payment for {company}'s bill in Wallet",
        "The open bill from {company} should be paid automatically on its due day",
    )
    touches = (Bill,)
    company: str = parameter(COMPANIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_bill(facts, rng, self.company)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Bill, bill_of(start, self.company).id, automatic=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Bills")
        yield Press(self.company, role="row")
        yield Press("Pay automatically")


@dataclass(frozen=True)
class DeclineRequest(Errand):
    name = "wallet.decline_request"
    apps = ("Wallet",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        "Decline {person}'s request for money in Wallet",
        "{person} wants money from me in Wallet. Say no to that request",
        "Turn down what {person} asks me for in Wallet, and pay nothing",
    )
    touches: ClassVar[tuple[type[Any], ...]] = (MoneyRequest,)
    person: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        facts.remove_where(MoneyRequest, lambda request: request.person == self.person)
        facts.add(MoneyRequest(0, self.person, rng.randrange(5_00, 40_00, 10), "Old debts"))

    def _request(self, view: View) -> MoneyRequest:
        return next(r for r in view.all(MoneyRequest) if r.person == self.person)

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, MoneyRequest, self._request(start).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Requests", role="button")
        yield Press(self.person, role="row")
        yield Press("Decline")


@dataclass(frozen=True)
class PayRequest(DeclineRequest):
    name = "wallet.pay_request"
    phrasings = (
        "Pay what {person} asks me for in Wallet",
        "{person} has sent me a request in Wallet. Pay it",
        "Accept {person}'s request for money in Wallet",
    )
    touches = (MoneyRequest, Account, Transfer)

    def missing(self, start: View, end: View) -> str | None:
        request = self._request(start)
        wrong = only_removed(start, end, MoneyRequest, request.id)
        return wrong or not_paid(start, end, self.person, request.cents)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Requests", role="button")
        yield Press(self.person, role="row")
        yield Press("Pay request")


@dataclass(frozen=True)
class AskBill(Errand):
    name = "wallet.ask_bill"
    apps = ("Wallet",)
    difficulty = "easy"
    phrasings = (
        "How much is the open bill from {company} in Wallet?",
        "What does {company} want from me, according to the bills in Wallet?",
        "Tell me the amount of {company}'s bill in Wallet",
    )
    company: str = parameter(COMPANIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_bill(facts, rng, self.company)

    def missing(self, start: View, end: View) -> str | None:
        cents = bill_of(start, self.company).cents
        return None if states_number(end.answer, cents / 100) else f"the bill is {money(cents)}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Bills")
        yield Reveal(self.company)
        yield Say(money(bill_of(start, self.company).cents))


@dataclass(frozen=True)
class RequestMoney(Errand):
    name = "wallet.request"
    apps = ("Wallet",)
    difficulty = "hard"
    phrasings = (
        "Request {amount} from {person} in Wallet",
        "Ask {person} for {amount} with Wallet",
        "{person} owes me {amount}. Send a request in Wallet",
    )
    touches = (MoneyRequest,)
    person: str = parameter(NAMES)
    amount: int = parameter(AMOUNTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        wanted = {"person": self.person, "cents": self.amount, "ours": True}
        return only_added(start, end, MoneyRequest, **wanted)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Request", role="button")
        yield Fill("Search people", self.person)
        yield Press(self.person, role="row")
        yield Fill("Amount", money(self.amount).lstrip("$"))
        yield Press("Send request")


TEMPLATES: tuple[type[Template], ...] = (
    SendWithNote, SendWithCode, SendCorrected, PayBill, AutomaticBill, DeclineRequest, PayRequest,
    AskBill, RequestMoney,
)  # fmt: skip
