"""Tasks in the app Mail that organise mails: star, archive, delete, move, restore, mark unread."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.mail import Mail, UnreadMail, unread_mails
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.differences import only_changed
from phonesim.tasks.general.mailbox import (
    COMPANIES,
    SHELVES,
    SUBJECTS,
    company_address,
    delivered,
    delivered_among_others,
    mail_about,
    open_mail,
)
from phonesim.tasks.moves import Move, Open, Press
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class StarMail(Template):
    name = "mail.star"
    apps = ("Mail",)
    difficulty = "easy"
    phrasings = (
        'Star the mail "{subject}"',
        'Mark the email about "{subject}" with a star',
        'The mail "{subject}" is important. Give it a star',
    )
    touches = (Mail,)
    subject: str = parameter(SUBJECTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        delivered_among_others(facts, rng, self.subject)

    def missing(self, start: View, end: View) -> str | None:
        mail = mail_about(start, self.subject)
        return only_changed(start, end, Mail, mail.id, starred=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(f"Star {self.subject}")


@dataclass(frozen=True)
class ArchiveMail(Template):
    name = "mail.archive"
    apps = ("Mail",)
    difficulty = "easy"
    phrasings = (
        'Archive the mail "{subject}"',
        'I am done with the email "{subject}". Put it into the archive',
        'Move the mail about "{subject}" to Archive',
    )
    touches = (Mail,)
    subject: str = parameter(SUBJECTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        delivered_among_others(facts, rng, self.subject)

    def missing(self, start: View, end: View) -> str | None:
        mail = mail_about(start, self.subject)
        return only_changed(start, end, Mail, mail.id, folder="Archive")

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield open_mail(mail_about(start, self.subject))
        yield Press("Archive")


@dataclass(frozen=True)
class DeleteMailFrom(Template):
    name = "mail.delete_from"
    apps = ("Mail",)
    difficulty = "easy"
    phrasings = (
        "Delete the mail from {company}",
        "I do not need the email that {company} sent. Throw it away",
        "Move the message from {company} in my inbox to the trash",
    )
    touches = (Mail,)
    company: str = parameter(COMPANIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        subject = rng.choice(("News for you", "We miss you", "Our summer programme"))
        address = company_address(self.company)
        delivered(facts, rng, subject, sender=self.company, address=address)
        rivals = [company for company in COMPANIES.train if company != self.company]
        for rival in rng.sample(rivals, rng.randrange(1, 3)):
            delivered(facts, rng, subject, sender=rival, address=company_address(rival))

    def _mail(self, view: View) -> Mail:
        return next(mail for mail in view.all(Mail) if mail.sender == self.company)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Mail, self._mail(start).id, folder="Trash")

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.company)
        yield Press("Delete")


@dataclass(frozen=True)
class MoveMail(Template):
    name = "mail.move"
    apps = ("Mail",)
    difficulty = "medium"
    phrasings = (
        'Move the mail "{subject}" to the folder {folder}',
        'File the email about "{subject}" under {folder}',
        'The mail "{subject}" belongs in {folder}. Move it there',
    )
    touches = (Mail,)
    subject: str = parameter(SUBJECTS)
    folder: str = parameter(SHELVES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        delivered_among_others(facts, rng, self.subject)

    def missing(self, start: View, end: View) -> str | None:
        mail = mail_about(start, self.subject)
        return only_changed(start, end, Mail, mail.id, folder=self.folder)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield open_mail(mail_about(start, self.subject))
        yield Press("Move to folder")
        yield Press(self.folder)


@dataclass(frozen=True)
class RestoreMail(Template):
    name = "mail.restore"
    apps = ("Mail",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        'I deleted the mail "{subject}" by accident. Put it back into the inbox',
        'Bring the mail "{subject}" back from the trash to the inbox',
        'Restore the deleted email about "{subject}" to Inbox',
    )
    touches = (Mail,)
    subject: str = parameter(SUBJECTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        others = [subject for subject in SUBJECTS.train if subject != self.subject]
        delivered(facts, rng, self.subject, folder="Trash")
        delivered(facts, rng, rng.choice(others), folder="Trash")

    def missing(self, start: View, end: View) -> str | None:
        mail = mail_about(start, self.subject)
        return only_changed(start, end, Mail, mail.id, folder="Inbox")

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press("Folders")
        yield Press("Trash")
        yield open_mail(mail_about(start, self.subject))
        yield Press("Move to folder")
        yield Press("Inbox")


@dataclass(frozen=True)
class MarkMailUnread(Template):
    name = "mail.mark_unread"
    apps = ("Mail",)
    difficulty = "easy"
    phrasings = (
        'Mark the mail "{subject}" as unread',
        'I want to come back to the email "{subject}". Make it unread again',
        'Set the mail about "{subject}" to unread',
    )
    subject: str = parameter(SUBJECTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        mail = delivered_among_others(facts, rng, self.subject)
        facts.remove_where(UnreadMail, lambda mark: mark.mail == mail.id)

    def missing(self, start: View, end: View) -> str | None:
        mail = mail_about(start, self.subject)
        new = unread_mails(end.facts) - unread_mails(start.facts)
        return None if new == {mail.id} else f"{self.subject!r} is not the only new unread mail"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield open_mail(mail_about(start, self.subject))
        yield Press("Mark as unread")


TEMPLATES: tuple[type[Template], ...] = (
    StarMail,
    ArchiveMail,
    DeleteMailFrom,
    MoveMail,
    RestoreMail,
    MarkMailUnread,
)
