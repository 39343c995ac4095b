"""What is said in Chat, to whom, and what becomes of groups and payments."""

from __future__ import annotations

import pytest
from tests.phonesim.apps.everyday.test_install import everyday_phone
from tests.phonesim.conftest import Use

from phonesim.contents.everyday.money import Account, Transfer
from phonesim.contents.everyday.threads import (
    ME,
    BlockedChatter,
    ChatMessage,
    ChatSettings,
    ChatThread,
    ChatUpdate,
    UnreadThread,
    messages_in,
    thread_with,
)
from phonesim.contents.people import Contact
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Hold, Open, Press, Reveal, Toggle


@pytest.fixture
def phone() -> Phone:
    return everyday_phone(1)


def a_thread(phone: Phone, *, group: bool) -> ChatThread:
    return next(each for each in phone.facts.all(ChatThread) if each.group is group)


def test_what_is_written_is_the_last_word_of_the_thread(phone: Phone, use: Use) -> None:
    thread = a_thread(phone, group=False)
    use(Open("Chat"), Press(thread.title, role="row"), Fill("Message", "See you"), Press("Send"))
    last = messages_in(phone.facts, thread.id)[-1]
    assert (last.sender, last.text) == (ME, "See you")
    count = len(phone.facts.all(ChatMessage))
    use(Press("Send"))  # nothing stands in the field
    assert len(phone.facts.all(ChatMessage)) == count


def test_a_thread_that_is_opened_is_read(phone: Phone, use: Use) -> None:
    thread = a_thread(phone, group=True)
    phone.facts.remove_where(UnreadThread, lambda _: True)
    phone.facts.add(UnreadThread(thread=thread.id))
    use(Open("Chat"), Press(thread.title, role="row"))
    assert not phone.facts.all(UnreadThread)


def test_a_new_chat_begins_a_thread_and_the_next_one_finds_it(phone: Phone, use: Use) -> None:
    person = next(c.name for c in phone.facts.all(Contact) if not thread_with(phone.facts, c.name))
    for _ in range(2):
        use(Open("Chat"), Press("New chat"), Fill("Search people", person))
        use(Press(person, role="row"), Fill("Message", "Hello"), Press("Send"), GoBack(), GoBack())
    threads = [each for each in phone.facts.all(ChatThread) if each.title == person]
    assert len(threads) == 1
    assert [m.text for m in messages_in(phone.facts, threads[0].id)] == ["Hello", "Hello"]


def test_money_sent_in_a_chat_leaves_the_wallet(phone: Phone, use: Use) -> None:
    thread, before = a_thread(phone, group=False), phone.facts.one(Account).balance_cents
    use(Open("Chat"), Press(thread.title, role="row"), Press("Attach"), Press("Send money"))
    use(Fill("Amount", "7.25"), Press("Next"), Press("Pay"))
    assert phone.facts.one(Account).balance_cents == before - 7_25
    assert phone.facts.all(Transfer)[-1].person == thread.title
    assert messages_in(phone.facts, thread.id)[-1].cents == 7_25


def test_what_the_wallet_does_not_hold_is_not_sent(phone: Phone, use: Use) -> None:
    thread, before = a_thread(phone, group=False), phone.facts.one(Account)
    use(Open("Chat"), Press(thread.title, role="row"), Press("Attach"), Press("Send money"))
    use(Fill("Amount", "9999"), Press("Next"))
    assert phone.routes[-1].page == "pay_failed"
    assert phone.facts.one(Account) == before


def test_nobody_can_write_to_a_person_who_is_blocked(phone: Phone, use: Use) -> None:
    thread = a_thread(phone, group=False)
    use(Open("Chat"), Press(thread.title, role="row"), Press("Chat info"), Press("View profile"))
    use(Press("Block"), Press("Block"))
    assert [each.person for each in phone.facts.all(BlockedChatter)] == [thread.title]
    use(GoBack(), GoBack(), Reveal("You blocked this person"))
    assert not any(element.text == "Send" for element in phone.elements())


def test_a_group_that_is_left_is_gone_with_what_was_said(phone: Phone, use: Use) -> None:
    thread = a_thread(phone, group=True)
    use(Open("Chat"), Press(thread.title, role="row"), Press("Chat info"), Press("Leave group"))
    use(Press("Leave"))
    assert thread_with(phone.facts, thread.title) is None
    assert not messages_in(phone.facts, thread.id)


def test_archiving_hides_a_thread_and_keeps_it(phone: Phone, use: Use) -> None:
    thread = a_thread(phone, group=False)
    use(Open("Chat"), Hold(thread.title, role="row"), Press("Archive"))
    assert phone.facts.get(ChatThread, thread.id).archived
    assert not any(element.text == thread.title for element in phone.elements())
    use(Press("More options"), Press("Archived chats"), Reveal(thread.title))


def test_an_update_can_be_shared_and_taken_back(phone: Phone, use: Use) -> None:
    count = len(phone.facts.all(ChatUpdate))
    use(Open("Chat"), Press("Updates", role="tab"), Press("New update"))
    use(Fill("What is new?", "I am learning to whistle"), Press("Share"))
    assert len(phone.facts.all(ChatUpdate)) == count + 1
    use(Press("I am learning to whistle"), Press("Delete update"), Press("Delete"))
    assert len(phone.facts.all(ChatUpdate)) == count


def test_privacy_is_a_matter_of_switches(phone: Phone, use: Use) -> None:
    use(Open("Chat"), Press("More options"), Press("Chat settings"), Press("Privacy"))
    use(Toggle("Read receipts", False))
    assert not phone.facts.one(ChatSettings).read_receipts
