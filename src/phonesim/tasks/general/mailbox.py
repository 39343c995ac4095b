"""Helpers for tasks about mails: domains of subjects and senders, and adding mails."""

from __future__ import annotations

import random
from datetime import timedelta

from phonesim.apps.mail import Mail, UnreadMail, preview
from phonesim.contents.letters import FOLDERS
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.moves import Move, Press
from phonesim.tasks.template import View, added

SUBJECTS = Domain(
    "mail subjects",
    (
        "Parking permit", "Garden party", "Photos from the lake", "Floor plan", "Book club",
        "Weekend trip", "Old bicycle", "Piano lessons", "Recipe for plum cake", "Missing glove",
        "New office chairs", "Travel insurance", "Team lunch", "Babysitting on Friday",
        "Choir rehearsal", "Broken heater", "Moving boxes", "Language course", "Lost and found",
        "Volunteer day", "Spare key", "Budget draft", "Holiday pictures", "Running group",
    ),
)  # fmt: skip
COMPANIES = Domain(
    "companies that write mails",
    (
        "Aurora Trains", "Beacon Hostels", "Cobalt Telecom", "Dandelion Toys", "Ember Concerts",
        "Fjord Cruises", "Glacier Tours", "Heron Insurance", "Indigo Air", "Juno Theatre",
        "Kiwi Rentals", "Lumen Electric", "Mosaic Museum", "Nimbus Internet", "Opal Jewellers",
        "Pine Lodge",
    ),
)  # fmt: skip
SHELVES = Domain("mail folders", FOLDERS[FOLDERS.index("Travel") :])
BODIES = (
    "Hello,\n\nplease have a look at this and tell me what you think.\n\nBest wishes",
    "Hi,\n\njust a quick note, so that you do not forget. We can talk about it next week.\n\nBye!",
    "Hello again,\n\nI asked around, and everybody likes the idea. Shall we go ahead?",
    "Hi,\n\nsorry for the late answer. Yes, that works for me.\n\nSee you",
)


def delivered(
    facts: Facts,
    rng: random.Random,
    subject: str,
    *,
    sender: str = "",
    address: str = "",
    body: str = "",
    folder: str = "Inbox",
) -> Mail:
    """Add a mail, newer than all others; from a random contact unless a sender is given."""
    newest = max(mail.time for mail in facts.all(Mail))
    person = rng.choice(facts.all(Contact))
    mail = facts.add(
        Mail(
            folder=folder,
            sender=sender or person.name,
            address=address or person.email,
            subject=subject,
            body=body or rng.choice(BODIES),
            time=newest + timedelta(minutes=rng.randrange(2, 9)),
        )
    )
    if folder == "Inbox" and rng.random() < 0.5:
        facts.add(UnreadMail(mail=mail.id))
    return mail


def delivered_among_others(facts: Facts, rng: random.Random, subject: str) -> Mail:
    """Add and return a mail with this subject; add up to two newer ones above it."""
    mail = delivered(facts, rng, subject)
    others = [other for other in SUBJECTS.values("held_out_templates") if other != subject]
    for other in rng.sample(others, rng.randrange(0, 3)):
        delivered(facts, rng, other)
    return mail


def mail_about(view: View, subject: str) -> Mail:
    return next(mail for mail in view.all(Mail) if mail.subject == subject)


def open_mail(mail: Mail) -> Move:
    return Press(mail.sender, role="row", detail=preview(mail))


def company_address(company: str) -> str:
    return f"info@{company.lower().replace(' ', '')}.example"


def sent_mail(start: View, end: View, to: str) -> str | Mail:
    """Return the one new mail if it was sent to this address; else what is wrong."""
    wrong = only_added(start, end, Mail, folder="Sent", to=to)
    return wrong or added(start, end, Mail)[0]


def booked(facts: Facts, rng: random.Random, company: str) -> None:
    """Add a mail from the company that ends with a booking code."""
    letters = "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(3))
    body = (
        f"Dear customer,\n\nthank you for choosing {company}. Everything is ready for your visit, "
        f"we look forward to it.\n\nBooking code: {letters}{rng.randrange(100, 1000)}"
    )
    address = company_address(company)
    delivered(facts, rng, "Your booking", sender=company, address=address, body=body)


def booking_code(view: View, company: str) -> str:
    return next(mail for mail in view.all(Mail) if mail.sender == company).body.split()[-1]
