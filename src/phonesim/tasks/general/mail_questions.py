"""Questions that the mailbox answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.mail import Mail, UnreadMail, unread_mails
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.mailbox import (
    COMPANIES,
    SHELVES,
    SUBJECTS,
    booked,
    booking_code,
    company_address,
    delivered,
)
from phonesim.tasks.moves import Move, Open, Press, Say
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class AskBookingCode(Template):
    name = "mail.ask_code"
    apps = ("Mail",)
    difficulty = "easy"
    phrasings = (
        "What is the booking code in the mail from {company}?",
        "Find the booking code that {company} has mailed me",
        "I need the code of my booking with {company}. It is in my mail",
    )
    company: str = parameter(COMPANIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        booked(facts, rng, self.company)
        delivered(facts, rng, rng.choice(SUBJECTS.train))

    def missing(self, start: View, end: View) -> str | None:
        code = booking_code(start, self.company)
        return None if mentions(end.answer, code) else f"the code is {code}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.company)
        yield Say(booking_code(start, self.company))


@dataclass(frozen=True)
class AskAmount(Template):
    name = "mail.ask_amount"
    apps = ("Mail",)
    difficulty = "easy"
    phrasings = (
        "How much do I owe {company}? Look at the bill in my mail",
        "What is the amount of the invoice that {company} mailed me?",
        "Tell me the sum on the bill from {company}",
    )
    company: str = parameter(COMPANIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        rivals = [company for company in COMPANIES.train if company != self.company]
        for company in (self.company, rng.choice(rivals)):
            amount = rng.randrange(500, 30000) / 100
            body = (
                "Dear customer,\n\nhere is your bill for this month. Please pay within two weeks, "
                f"then all is well.\n\nAmount due: {amount:.2f}"
            )
            address = company_address(company)
            delivered(facts, rng, "Your bill", sender=company, address=address, body=body)

    def _amount(self, view: View) -> str:
        return next(m for m in view.all(Mail) if m.sender == self.company).body.split()[-1]

    def missing(self, start: View, end: View) -> str | None:
        amount = self._amount(start)
        right = states_number(end.answer, float(amount))
        return None if right else f"the amount is {amount}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.company)
        yield Say(self._amount(start))


@dataclass(frozen=True)
class CountUnread(Template):
    name = "mail.count_unread"
    apps = ("Mail",)
    difficulty = "easy"
    phrasings = (
        "How many unread mails are in the folder {folder}?",
        "Count the unread emails in {folder}",
        "Tell me how many mails in {folder} I have not read yet",
    )
    folder: str = parameter(SHELVES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        unread = [True] * rng.randrange(1, 9) + [False] * rng.randrange(0, 4)
        rng.shuffle(unread)
        subjects = rng.sample(SUBJECTS.values("held_out_templates"), len(unread))
        for subject, is_unread in zip(subjects, unread, strict=True):
            mail = delivered(facts, rng, subject, folder=self.folder)
            if is_unread:
                facts.add(UnreadMail(mail=mail.id))

    def _count(self, facts: Facts) -> int:
        unread = unread_mails(facts)
        return len(facts.where(Mail, lambda m: m.folder == self.folder and m.id in unread))

    def missing(self, start: View, end: View) -> str | None:
        count = self._count(start.facts)
        return None if states_number(end.answer, count) else f"there are {count} unread mails"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press("Folders")
        yield Press(self.folder)
        yield Say(str(self._count(start.facts)))


TEMPLATES: tuple[type[Template], ...] = (
    AskBookingCode,
    AskAmount,
    CountUnread,
)
