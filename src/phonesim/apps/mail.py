"""Mail: folders, reading, answering, writing. Unread marks are separate records (`UnreadMail`).

Starred is a view of all mails with a star; every mail is in one of the other folders.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar

from phonesim.app import App, Ui, Window
from phonesim.contents.letters import ANSWERS, FOLDERS, LETTERS
from phonesim.contents.people import Contact, by_name
from phonesim.contents.timestamps import LONG_AGO, full, short
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.system import Notification
from phonesim.toolkit.boxes import Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Text
from phonesim.toolkit.widget import Widget

OWN_ADDRESS = "me@letterbox.example"
FOLDER_ICONS = {
    "Inbox": "inbox", "Starred": "star", "Sent": "send", "Archive": "archive", "Trash": "trash",
}  # fmt: skip
MAX_ROWS = 40
QUIET = timedelta(hours=2)  # minimum age of initial mails, so that mails of tasks are newer


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail, received or sent."""

    id: int = 0
    folder: str = "Inbox"
    sender: str = ""
    address: str = ""  # the sender's address
    to: str = OWN_ADDRESS
    subject: str = ""
    body: str = ""
    time: datetime = LONG_AGO
    starred: bool = False


@dataclass(frozen=True, slots=True)
class UnreadMail:
    """Marks a mail as unread; removed when the mail is opened."""

    INCIDENTAL: ClassVar[bool] = True

    id: int = 0
    mail: int = 0


def unread_mails(facts: Facts) -> set[int]:
    return {mark.mail for mark in facts.all(UnreadMail)}


def preview(mail: Mail) -> str:
    """Return the second line of a mail's row: the subject and the beginning of the text."""
    return f"{mail.subject}\n{' '.join(mail.body.split())[:80]}"


class MailApp(App):
    """One folder at a time, a page for each mail, a form to write."""

    name = "Mail"
    icon = "mail"
    color = (200, 70, 62)
    kinds = (Mail, UnreadMail)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        time, mails = now - QUIET, []
        for letter in rng.sample(LETTERS, 11):
            time -= timedelta(minutes=rng.randrange(30, 1500))
            folder = rng.choice(("Inbox",) * 6 + ("Archive", "Trash", "Receipts"))
            sender, address, subject, body = letter
            starred = rng.random() < 0.15
            mails.append(
                Mail(0, folder, sender, address, OWN_ADDRESS, subject, body, time, starred)
            )
        for mail in rng.sample(mails, 3):
            answer = rng.choice(ANSWERS)
            later = mail.time + timedelta(minutes=rng.randrange(5, 25))
            subject = f"Re: {mail.subject}"
            mails.append(Mail(0, "Sent", "Me", OWN_ADDRESS, mail.address, subject, answer, later))
        for mail in sorted(mails, key=lambda mail: mail.time):
            stored = facts.add(mail)
            if stored.folder == "Inbox" and rng.random() < 0.4:
                facts.add(UnreadMail(mail=stored.id))
        unread = facts.all(UnreadMail)
        if unread:
            newest = facts.get(Mail, unread[-1].mail)
            facts.add(Notification(0, self.name, newest.sender, newest.subject))

    # A folder ----------------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        folder = ui.text("folder", "Inbox")
        query = ui.text("query").strip().casefold()
        mails = [
            mail
            for mail in ui.facts.all(Mail)
            if _lies_in(mail, folder)
            and query in f"{mail.sender}\n{mail.subject}\n{mail.body}".casefold()
        ]
        mails.sort(key=lambda mail: (mail.time, mail.id), reverse=True)
        unread = unread_mails(ui.facts)
        rows = [self._row(ui, mail, mail.id in unread) for mail in mails[:MAX_ROWS]]
        return ui.page(
            folder,
            rows or [Empty("Nothing here", "mail")],
            head=Pad(ui.field("query", "Search mail", icon="search"), sides=12, top=6, bottom=4),
            actions=[
                IconButton(
                    "menu" if ui.version != 3 else "folder", "Folders", lambda: ui.go("folders")
                )
            ],
            primary=("edit", "Compose", lambda: ui.go("compose")),
        )

    def _row(self, ui: Ui, mail: Mail, unread: bool) -> Widget:
        who = f"To: {mail.to}" if mail.folder == "Sent" else mail.sender
        star = (
            "star_filled" if mail.starred else "star",
            f"{'Unstar' if mail.starred else 'Star'} {mail.subject}",
            partial(ui.facts.edit, mail, starred=not mail.starred),
        )
        return ListRow(
            who,
            preview(mail),
            trailing=short(mail.time, ui.now, ui.settings.use_24_hour),
            avatar=mail.sender if ui.version != 2 else "",
            bold=unread,
            on_tap=partial(self._open, ui, mail),
            button=star,
        )

    def _open(self, ui: Ui, mail: Mail) -> None:
        ui.facts.remove_where(UnreadMail, lambda mark: mark.mail == mail.id)
        ui.go("message", mail.id)

    def folders(self, ui: Ui) -> Window:
        unread = unread_mails(ui.facts)
        counts = dict.fromkeys(FOLDERS, 0)
        for mail in ui.facts.all(Mail):
            counts[mail.folder] += mail.id in unread

        def choose(folder: str) -> None:
            ui.back()
            ui.set("folder", folder)
            ui.set("scroll", 0)

        rows: list[Widget] = [
            ListRow(
                folder,
                icon=FOLDER_ICONS.get(folder, "folder"),
                trailing=f"{counts[folder]} unread" if counts[folder] else "",
                on_tap=partial(choose, folder),
            )
            for folder in FOLDERS
        ]
        return ui.page("Folders", rows)

    # One mail ----------------------------------------------------------------------------------

    def message(self, ui: Ui, mail_id: int) -> Window:
        mail = ui.facts.get(Mail, mail_id)
        icons = [
            IconButton("archive", "Archive", lambda: self._move(ui, mail, "Archive")),
            IconButton("trash", "Delete", lambda: self._delete(ui, mail)),
            IconButton("mail", "Mark as unread", lambda: self._mark_unread(ui, mail)),
            IconButton("folder", "Move to folder", lambda: ui.go("choose_folder", mail_id)),
        ]
        star = IconButton(
            "star_filled" if mail.starred else "star",
            "Unstar" if mail.starred else "Star",
            lambda: ui.facts.edit(mail, starred=not mail.starred),
            selected=mail.starred,
        )
        reply = Button("Reply", lambda: self._reply(ui, mail), "soft", icon="reply")
        forward = Button("Forward", lambda: self._forward(ui, mail), "soft", icon="forward")
        return ui.page(
            mail.folder,
            [
                Pad(Row([Text(mail.subject, "title"), star], stretch=0), top=12, bottom=4),
                ListRow(mail.sender, mail.address, avatar=mail.sender, detail_lines=1),
                Pad(
                    Text(
                        f"To {mail.to}\n{full(mail.time, ui.now, ui.settings.use_24_hour)}",
                        "small",
                        "muted",
                    ),
                    bottom=4,
                ),
                Pad(Text(mail.body), top=8, bottom=20),
            ],
            actions=icons if ui.version != 3 else icons[::-1],
            foot=Pad(Row([reply, forward], align="spread"), top=8, bottom=8),
        )

    def _move(self, ui: Ui, mail: Mail, folder: str) -> None:
        ui.facts.edit(mail, folder=folder)
        ui.back()
        ui.say(f"Moved to {folder}")

    def _delete(self, ui: Ui, mail: Mail) -> None:
        if mail.folder == "Trash":
            ui.go("confirm_delete", mail.id)
        else:
            self._move(ui, mail, "Trash")

    def confirm_delete(self, ui: Ui, mail_id: int) -> Window:
        mail = ui.facts.get(Mail, mail_id)
        return ui.dialog(
            "Delete for good?",
            f"“{mail.subject}” cannot be brought back.",
            {"Cancel": None, "Delete for good": lambda: ui.facts.remove(mail)},
        )

    def _mark_unread(self, ui: Ui, mail: Mail) -> None:
        ui.facts.add(UnreadMail(mail=mail.id))
        ui.back()
        ui.say("Marked as unread")

    def choose_folder(self, ui: Ui, mail_id: int) -> Window:
        mail = ui.facts.get(Mail, mail_id)
        choices: dict[str, Handler] = {
            folder: partial(self._move, ui, mail, folder)
            for folder in FOLDERS
            if folder not in ("Starred", "Sent", mail.folder)
        }
        return ui.sheet("Move to folder", choices)

    # Writing -----------------------------------------------------------------------------------

    def _reply(self, ui: Ui, mail: Mail) -> None:
        subject = mail.subject if mail.subject.startswith("Re: ") else f"Re: {mail.subject}"
        ui.go("compose", to=mail.address, subject=subject)

    def _forward(self, ui: Ui, mail: Mail) -> None:
        body = f"Forwarded mail from {mail.sender}:\n{mail.body}"
        ui.go("compose", subject=f"Fwd: {mail.subject}", body=body)

    def compose(self, ui: Ui) -> Window:
        return ui.page(
            "New mail",
            [
                Pad(ui.field("to", "To"), top=10, bottom=2),
                *self._suggestions(ui),
                Pad(ui.field("subject", "Subject"), top=2, bottom=2),
                Pad(ui.field("body", "Message", lines=5), top=2),
            ],
            actions=[IconButton("send", "Send", lambda: self._send(ui), selected=True)],
        )

    def _suggestions(self, ui: Ui) -> list[Widget]:
        """Return contacts whose name contains the text in the field To."""
        typed = ui.text("to").strip().casefold()
        if not typed or "@" in typed:
            return []
        found = [c for c in by_name(ui.facts) if c.email and typed in c.name.casefold()]
        return [
            ListRow(c.name, c.email, icon="user", on_tap=partial(ui.set, "to", c.email))
            for c in found[:2]
        ]

    def _send(self, ui: Ui) -> None:
        to = address_of(ui.facts, ui.text("to"))
        if to is None:
            ui.say("Please give an address in To")
            return
        ui.facts.add(
            Mail(
                folder="Sent",
                sender="Me",
                address=OWN_ADDRESS,
                to=to,
                subject=ui.text("subject").strip(),
                body=ui.text("body").strip(),
                time=ui.now,
            )
        )
        ui.back()
        ui.say("Mail sent")


def address_of(facts: Facts, typed: str) -> str | None:
    """Return the typed address, or that of the contact with the typed name; None if neither."""
    name = typed.strip().casefold()
    person = facts.find(Contact, lambda c: bool(c.email) and c.name.casefold() == name)
    if person:
        return person.email
    return typed.strip() if "@" in typed.strip()[1:-1] else None


def _lies_in(mail: Mail, folder: str) -> bool:
    if folder == "Starred":
        return mail.starred and mail.folder != "Trash"
    return mail.folder == folder
