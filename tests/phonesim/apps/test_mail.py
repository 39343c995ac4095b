"""The mailbox, by what stands on the screen."""

import pytest
from tests.phonesim.conftest import Use

from phonesim.apps.mail import Mail, UnreadMail, preview, unread_mails
from phonesim.contents.people import by_name
from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press


@pytest.fixture
def phone() -> Phone:
    return Phone(5, NO_DRIFT)


def newest(phone: Phone) -> Mail:
    return max(phone.facts.where(Mail, lambda m: m.folder == "Inbox"), key=lambda m: m.time)


def opened(mail: Mail) -> Move:
    return Press(mail.sender, role="row", detail=preview(mail))


def test_reading_a_mail_takes_its_mark_and_leaves_the_mail_as_it_was(
    phone: Phone, finger: Finger, use: Use
) -> None:
    mail = newest(phone)
    phone.facts.add(UnreadMail(mail=mail.id))
    use(Open("Mail"), opened(mail))
    assert mail.id not in unread_mails(phone.facts)
    assert phone.facts.get(Mail, mail.id) == mail
    assert mail.body in finger.labels
    use(Press("Mark as unread"))
    assert mail.id in unread_mails(phone.facts)


def test_the_folders_count_what_is_unread(phone: Phone, use: Use) -> None:
    phone.facts.remove_where(UnreadMail, lambda _: True)
    for mail in phone.facts.where(Mail, lambda m: m.folder == "Inbox")[:3]:
        phone.facts.add(UnreadMail(mail=mail.id))
    use(Open("Mail"), Press("Folders"))
    (inbox,) = (e for e in phone.elements() if e.text == "Inbox")
    assert inbox.value == "3 unread"


def test_a_mail_moves_from_folder_to_folder_and_goes_for_good_from_the_trash(
    phone: Phone, use: Use
) -> None:
    mail = newest(phone)
    use(Open("Mail"), opened(mail), Press("Move to folder"), Press("Travel"))
    assert phone.facts.get(Mail, mail.id).folder == "Travel"
    use(Press("Folders"), Press("Travel"), opened(mail), Press("Delete"))
    assert phone.facts.get(Mail, mail.id).folder == "Trash"
    use(Press("Folders"), Press("Trash"), opened(mail), Press("Delete"))
    use(Press("Delete for good"))
    assert mail.id not in [m.id for m in phone.facts.all(Mail)]
    assert phone.routes[-1].page == "home"


def test_starred_shows_mails_of_all_folders_but_the_trash(phone: Phone, use: Use) -> None:
    mail = newest(phone)
    for other in phone.facts.all(Mail):
        phone.facts.edit(other, starred=other.folder == "Trash")
    phone.facts.edit(mail, folder="Archive")
    use(Open("Mail"), Press("Folders"), Press("Archive"), Press(f"Star {mail.subject}"))
    use(Press("Folders"), Press("Starred"))
    assert [e.text for e in phone.elements() if e.role == "row"] == [mail.sender]


def test_a_reply_goes_back_to_the_sender(phone: Phone, use: Use) -> None:
    mail = newest(phone)
    use(Open("Mail"), opened(mail), Press("Reply"), Fill("Message", "Fine"), Press("Send"))
    sent = phone.facts.all(Mail)[-1]
    assert (sent.folder, sent.to, sent.body) == ("Sent", mail.address, "Fine")
    assert sent.subject == f"Re: {mail.subject}"


def test_a_name_in_to_stands_for_its_address_and_a_stranger_for_none(
    phone: Phone, use: Use
) -> None:
    person, mail = by_name(phone.facts)[2], newest(phone)
    use(Open("Mail"), opened(mail), Press("Forward"), Fill("To", "Nobody"), Press("Send"))
    assert phone.state.message == "Please give an address in To"
    use(Fill("To", person.name), Press("Send"))
    sent = phone.facts.all(Mail)[-1]
    assert (sent.to, sent.subject) == (person.email, f"Fwd: {mail.subject}")
    assert mail.body in sent.body


def test_search_finds_words_in_the_text(phone: Phone, finger: Finger, use: Use) -> None:
    mail = newest(phone)
    use(Open("Mail"), Fill("Search mail", mail.body.split("\n")[-1]), GoBack())
    assert mail.sender in finger.labels
