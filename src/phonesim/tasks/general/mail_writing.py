"""Tasks that write a mail, or use the contents of a mail in another app."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.mail import Mail
from phonesim.contents.conversations import Conversation, Message
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.chats import (
    talk_to,
    wrong_message,
)
from phonesim.tasks.general.differences import only_changed
from phonesim.tasks.general.mailbox import (
    COMPANIES,
    SUBJECTS,
    booked,
    booking_code,
    delivered,
    delivered_among_others,
    mail_about,
    open_mail,
    sent_mail,
)
from phonesim.tasks.general.people import HOSTS, NAMES, TEXTS, address_at, contact_named, known
from phonesim.tasks.general.tolerance import as_good_as, same_text
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class SendMail(Template):
    name = "mail.send"
    apps = ("Mail",)
    difficulty = "hard"
    phrasings = (
        'Send {person} a mail with the subject "{subject}" and the text "{text}"',
        'Write an email to {person}. Subject: "{subject}". Message: "{text}"',
        'Mail {person} "{text}" under the subject "{subject}"',
    )
    touches = (Mail,)
    person: str = parameter(NAMES)
    subject: str = parameter(SUBJECTS)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        mail = sent_mail(start, end, contact_named(start, self.person).email)
        if isinstance(mail, str):
            return mail
        if not same_text(mail.subject, self.subject):
            return f"the subject is {mail.subject!r}"
        return None if same_text(mail.body, self.text) else f"the mail says {mail.body!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press("Compose", role="button")
        yield Fill("To", contact_named(start, self.person).name)
        yield Fill("Subject", self.subject)
        yield Fill("Message", self.text)
        yield Press("Send")


@dataclass(frozen=True)
class ReplyToMail(Template):
    name = "mail.reply"
    apps = ("Mail",)
    difficulty = "medium"
    phrasings = (
        'Reply to the mail "{subject}" with "{text}"',
        'Answer the email about "{subject}": "{text}"',
        'Somebody mailed me with the subject "{subject}". Write back "{text}"',
    )
    touches = (Mail,)
    subject: str = parameter(SUBJECTS)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        delivered_among_others(facts, rng, self.subject)

    def missing(self, start: View, end: View) -> str | None:
        mail = sent_mail(start, end, mail_about(start, self.subject).address)
        if isinstance(mail, str):
            return mail
        if not same_text(mail.subject, f"Re: {self.subject}"):
            return f"the subject is {mail.subject!r}, so it is no reply"
        return None if same_text(mail.body, self.text) else f"the mail says {mail.body!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield open_mail(mail_about(start, self.subject))
        yield Press("Reply")
        yield Fill("Message", self.text)
        yield Press("Send")


@dataclass(frozen=True)
class ForwardMail(Template):
    name = "mail.forward"
    apps = ("Mail",)
    difficulty = "medium"
    phrasings = (
        'Forward the mail "{subject}" to {person}',
        '{person} should read the email "{subject}". Forward it',
        'Pass the mail with the subject "{subject}" on to {person}',
    )
    touches = (Mail,)
    subject: str = parameter(SUBJECTS)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        delivered_among_others(facts, rng, self.subject)

    def missing(self, start: View, end: View) -> str | None:
        mail = sent_mail(start, end, contact_named(start, self.person).email)
        if isinstance(mail, str):
            return mail
        if not same_text(mail.subject, f"Fwd: {self.subject}"):
            return f"the subject is {mail.subject!r}, so it was not forwarded"
        whole = mail_about(start, self.subject).body in mail.body
        return None if whole else "the text of the mail was not forwarded"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield open_mail(mail_about(start, self.subject))
        yield Press("Forward")
        yield Fill("To", self.person)
        yield Press("Send")


@dataclass(frozen=True)
class TextBookingCode(Template):
    name = "mail.text_code"
    apps = ("Mail", "Messages")
    difficulty = "hard"
    phrasings = (
        "Send {person} a text message with the booking code that {company} mailed me",
        "{person} needs the booking code that {company} mailed me. Send it in Messages",
        "Look up the booking code in the mail from {company} and text it to {person}",
    )
    touches = (Message, Conversation)
    company: str = parameter(COMPANIES)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        booked(facts, rng, self.company)
        talk_to(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        new = wrong_message(start, end, contact_named(start, self.person).phone)
        if isinstance(new, str):
            return new
        code = booking_code(start, self.company)
        return None if mentions(new.text, code) else f"the message says {new.text!r}, not {code}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.company)
        yield Open("Messages")
        yield Press(self.person)
        yield Fill("Text message", booking_code(start, self.company))
        yield Press("Send")


@dataclass(frozen=True)
class SaveNewAddress(Template):
    name = "mail.save_address"
    apps = ("Mail", "Contacts")
    difficulty = "hard"
    held_out = True
    phrasings = (
        "{person} has mailed me from a new address. It should replace the old one in Contacts",
        "Set {person}'s email in Contacts to the address that {person}'s latest mail came from",
        "The contact {person} has an old email address. The right one is in the mail from {person}",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)
    host: str = parameter(HOSTS)

    def words(self) -> dict[str, str]:
        return {"person": self.person}  # the agent has to find the address

    @property
    def address(self) -> str:
        return address_at(self.person, self.host)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        subject = rng.choice(("My new address", "I have moved", "New mailbox"))
        body = "Hello,\n\nplease write to me at this address from now on.\n\nThank you!"
        delivered(facts, rng, subject, sender=self.person, address=self.address, body=body)

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        email = as_good_as(self.address, end, person, "email", same_text)
        return only_changed(start, end, Contact, person.id, email=email)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.person)
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Edit contact")
        yield Fill("Email", self.address)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    SendMail,
    ReplyToMail,
    ForwardMail,
    TextBookingCode,
    SaveNewAddress,
)
