"""Tasks in the app Wallet about cards, tickets and its settings."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.everyday.money import (
    CARDS,
    PaymentCard,
    Ticket,
    WalletSettings,
    money,
    plain_money,
    ticket_code,
)
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.everyday_sources import EVENTS_WITH_TICKETS
from phonesim.tasks.general.differences import only_changed, only_removed
from phonesim.tasks.moves import Move, Open, Press
from phonesim.tasks.template import Template, View

CARD_NAMES = Domain("payment cards", CARDS)
CARD_LIMITS = Domain("card limits", (100_00, 300_00, 500_00, 1000_00), say=plain_money)
CODE_LIMITS = Domain("code limits", (0, 20_00, 50_00, 100_00), say=plain_money)


@dataclass(frozen=True)
class FreezeCard(Errand):
    name = "wallet.freeze_card"
    apps = ("Wallet",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        'Freeze the card "{card}" in Wallet',
        'I cannot find my card "{card}". Freeze it in Wallet',
        'Make sure that nobody can pay with my "{card}" card: freeze it',
    )
    touches = (PaymentCard,)
    card: str = parameter(CARD_NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        if not facts.find(PaymentCard, lambda card: card.name == self.card):
            facts.add(PaymentCard(0, self.card, str(rng.randrange(1000, 10000))))

    def _card(self, view: View) -> PaymentCard:
        return next(card for card in view.all(PaymentCard) if card.name == self.card)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, PaymentCard, self._card(start).id, frozen=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Cards", role="button")
        yield Press(self.card)
        yield Press("Freeze")
        yield Press("Freeze card")


@dataclass(frozen=True)
class LimitCard(FreezeCard):
    name = "wallet.limit_card"
    high_stakes = False
    phrasings = (
        'Set the monthly limit of my card "{card}" to {limit}',
        'In Wallet, the card "{card}" should have a monthly limit of {limit}',
        'Change the limit of the "{card}" card in Wallet to {limit}',
    )
    limit: int = parameter(CARD_LIMITS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        super().arrange(facts, rng)
        card = facts.find(PaymentCard, lambda card: card.name == self.card)
        if card and card.limit_cents == self.limit:
            facts.edit(card, limit_cents=300_00 if self.limit != 300_00 else 500_00)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, PaymentCard, self._card(start).id, limit_cents=self.limit)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Cards", role="button")
        yield Press(self.card)
        yield Press("Monthly limit")
        yield Press(money(self.limit), role="row")


@dataclass(frozen=True)
class RemoveTicket(Errand):
    name = "wallet.remove_ticket"
    apps = ("Wallet",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        'Remove the ticket "{ticket}" from Wallet',
        'I have used my ticket "{ticket}". Delete it in Wallet, and only that one',
        'Take "{ticket}" out of the tickets in Wallet',
    )
    touches = (Ticket,)
    ticket: str = parameter(EVENTS_WITH_TICKETS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Ticket, lambda ticket: ticket.title == self.ticket)
        facts.add(Ticket(0, self.ticket, "One seat", ticket_code(rng), facts.all(Ticket)[0].day))

    def missing(self, start: View, end: View) -> str | None:
        ticket = next(t for t in start.all(Ticket) if t.title == self.ticket)
        return only_removed(start, end, Ticket, ticket.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Tickets", role="button")
        yield Press(self.ticket, role="row")
        yield Press("Remove")
        yield Press("Remove ticket")


@dataclass(frozen=True)
class SetCodeLimit(Errand):
    name = "wallet.code_limit"
    apps = ("Wallet",)
    difficulty = "medium"
    phrasings = (
        "Let Wallet ask for a code above {limit}",
        "Change the settings of Wallet so that payments above {limit} need a code",
        "I want to confirm payments with a code only above {limit}. Set that in Wallet",
    )
    touches = (WalletSettings,)
    limit: int = parameter(CODE_LIMITS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        now = rng.choice([cents for cents in (0, 20_00, 50_00, 100_00) if cents != self.limit])
        facts.change(WalletSettings, code_above_cents=now)

    def missing(self, start: View, end: View) -> str | None:
        settings = start.one(WalletSettings).id
        return only_changed(start, end, WalletSettings, settings, code_above_cents=self.limit)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Wallet settings")
        yield Press("Ask for a code above")
        yield Press(money(self.limit), role="row")


TEMPLATES: tuple[type[Template], ...] = (FreezeCard, LimitCard, RemoveTicket, SetCodeLimit)
