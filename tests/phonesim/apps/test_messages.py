"""Conversations, by what stands on the screen."""

import pytest
from tests.phonesim.conftest import Use

from phonesim.contents.conversations import (
    Conversation,
    Message,
    UnreadConversation,
    conversation_with,
    is_unread,
    latest_messages,
)
from phonesim.contents.people import Contact, by_name
from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Hold, Move, Open, Press, Submit


@pytest.fixture
def phone() -> Phone:
    return Phone(5, NO_DRIFT)


def somebody(phone: Phone) -> tuple[Contact, Conversation]:
    """The contact whose conversation is the newest."""
    latest = latest_messages(phone.facts)
    known = {c.phone: c for c in phone.facts.all(Contact)}
    chats = [chat for chat in phone.facts.all(Conversation) if chat.number in known]
    chat = max(chats, key=lambda c: latest[c.id].time)
    return known[chat.number], chat


@pytest.mark.parametrize("send", [Press("Send"), Submit()])
def test_a_sent_message_stands_at_the_end_of_the_chat(phone: Phone, use: Use, send: Move) -> None:
    person, chat = somebody(phone)
    use(Open("Messages"), Press(person.name), Fill("Text message", "Hello there"), send)
    sent = phone.facts.all(Message)[-1]
    assert (sent.conversation, sent.text, sent.ours) == (chat.id, "Hello there", True)
    bubbles = [e for e in phone.elements() if e.detail in ("sent", "received")]
    assert bubbles[-1].text == "Hello there"
    assert phone.routes[-1].memory["draft"] == ""


def test_nothing_is_sent_without_words(phone: Phone, use: Use) -> None:
    person, _ = somebody(phone)
    before = phone.facts.all(Message)
    use(Open("Messages"), Press(person.name), Fill("Text message", "  "), Press("Send"))
    assert phone.facts.all(Message) == before


def test_a_first_message_makes_a_conversation(phone: Phone, finger: Finger, use: Use) -> None:
    numbers = {chat.number for chat in phone.facts.all(Conversation)}
    stranger = next(c for c in by_name(phone.facts) if c.phone not in numbers)
    use(Open("Messages"), Press("New message"), Press(stranger.name))
    assert "No messages yet" in finger.labels
    assert conversation_with(phone.facts, stranger.phone) is None
    use(Fill("Text message", "Hi"), Press("Send"))
    assert conversation_with(phone.facts, stranger.phone) is not None


def test_opening_a_conversation_makes_it_read_and_that_is_incidental(
    phone: Phone, use: Use
) -> None:
    person, chat = somebody(phone)
    phone.facts.add(UnreadConversation(conversation=chat.id))
    use(Open("Messages"), Press(person.name))
    assert not is_unread(phone.facts, chat)
    assert UnreadConversation.INCIDENTAL
    use(Press("More options"), Press("Mark as unread"))
    assert is_unread(phone.facts, chat)
    assert phone.routes[-1].page == "home"


def test_an_archived_conversation_is_kept_elsewhere(phone: Phone, finger: Finger, use: Use) -> None:
    person, chat = somebody(phone)
    use(Open("Messages"), Hold(person.name), Press("Archive"))
    assert person.name not in finger.labels
    use(Press("Archived"), Hold(person.name), Press("Unarchive"), GoBack())
    assert person.name in finger.labels
    assert phone.facts.get(Conversation, chat.id) == chat


def test_deleting_takes_the_messages_along(phone: Phone, use: Use) -> None:
    person, chat = somebody(phone)
    use(Open("Messages"), Hold(person.name), Press("Delete conversation"), Press("Delete"))
    assert chat not in phone.facts.all(Conversation)
    assert all(message.conversation != chat.id for message in phone.facts.all(Message))


def test_search_looks_into_the_messages(phone: Phone, finger: Finger, use: Use) -> None:
    person, chat = somebody(phone)
    old = phone.facts.where(Message, lambda m: m.conversation == chat.id)[0]
    use(Open("Messages"), Fill("Search messages", old.text))
    assert person.name in finger.labels
    use(Fill("Search messages", "xyzzy"))
    assert "No conversations" in finger.labels
