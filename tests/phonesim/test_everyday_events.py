"""Time passes in the everyday apps too: talk, requests, news of trips and meals."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.phonesim.test_world import ALIVE, BUSY, begun, labels

from distrl.records import Back, Home, Wait
from phonesim.apps.everyday import EVERYDAY_APPS, install
from phonesim.contents.conversations import UnreadConversation
from phonesim.contents.everyday.journeys import Trip
from phonesim.contents.everyday.meals import FoodOrder, FoodSettings
from phonesim.contents.everyday.money import MoneyRequest, pay
from phonesim.contents.everyday.news import ASKERS, TripNews, news_words
from phonesim.contents.everyday.posts import Comment, Post
from phonesim.contents.everyday.threads import ChatMessage, ChatThread, UnreadThread, messages_in
from phonesim.contents.small_talk import REPLIES
from phonesim.drift import Drift
from phonesim.finger import Finger
from phonesim.languages.language import language
from phonesim.phone import Phone
from phonesim.state import Route
from phonesim.system import Notification, SystemSettings


def everyday(drift: Drift, seed: int = 5) -> Phone:
    phone = Phone(seed, drift)
    install(phone.facts, random.Random(seed))
    phone.refresh()
    return phone


def wait(phone: Phone, times: int, seconds: float = 5.0) -> None:
    for _ in range(times):
        phone.perform(Wait(seconds))
        if phone.state.popup:
            phone.perform(Back())


def news_of(phone: Phone, app: str) -> list[Notification]:
    return [
        n for n in phone.facts.all(Notification) if n.app == app and n.id in phone.state.arrived
    ]


def test_everyday_apps_have_news_and_judges_can_take_all_of_it_out() -> None:
    phone = everyday(BUSY)
    phone.facts.add(Post(author="You", text="Look at this", time=phone.now))
    before = dict(phone.facts.tables())
    wait(phone, 150)
    arrived, moved = set(phone.state.arrived), {each for each, _ in phone.state.moved}
    for kind in (ChatMessage, ChatThread, MoneyRequest, TripNews, Comment):
        assert any(record.id in arrived for record in phone.facts.all(kind)), kind
    for app in ("Chat", "Wallet", "Travel", "Feed"):
        assert news_of(phone, app), app
    for kind, records in phone.facts.tables():
        rest = [r for r in records if r.id not in arrived and r.id not in moved]
        assert rest == [r for r in before.get(kind, ()) if r.id not in moved], kind


def test_a_club_asks_once_and_threads_are_marked_once() -> None:
    phone = everyday(BUSY)
    wait(phone, 60, 60.0)
    asking = [request.person for request in phone.facts.all(MoneyRequest)]
    assert {asker.name for asker in ASKERS} <= {*asking}
    assert len(asking) == len(ASKERS) + 2  # those that the phone came with
    for marks in (
        [mark.thread for mark in phone.facts.all(UnreadThread)],
        [mark.conversation for mark in phone.facts.all(UnreadConversation)],
    ):
        assert len(marks) == len(set(marks))


@pytest.mark.parametrize("speaks", ["English", "German"])
def test_whoever_is_written_to_in_chat_answers_in_the_language_of_the_phone(speaks: str) -> None:
    phone = everyday(replace(ALIVE, languages=(speaks,)))
    thread = next(each for each in phone.facts.all(ChatThread) if each.group)
    phone.facts.remove_where(UnreadThread, lambda _: True)
    phone.launch("Chat")
    phone.push(Route("thread", (thread.id,), {"draft": "Are you there?"}))
    Finger(phone).tap(phone.language.tr("Send"))
    sent = messages_in(phone.facts, thread.id)[-1]
    assert sent.text == "Are you there?"
    phone.perform(Wait(70.0))
    answer = messages_in(phone.facts, thread.id)[-1]
    assert answer.sender in thread.members
    assert answer.text in {language(speaks).tr(reply) for reply in REPLIES}
    assert (answer.time > sent.time, answer.id in phone.state.arrived) == (True, True)
    assert (news_of(phone, "Chat"), phone.facts.all(UnreadThread)) == ([], ())  # it was open
    phone.remember("draft", "And now?")
    Finger(phone).tap(phone.language.tr("Send"))
    phone.perform(Home())
    phone.perform(Wait(70.0))
    assert [note.title for note in news_of(phone, "Chat")] == [thread.title]
    assert [mark.thread for mark in phone.facts.all(UnreadThread)] == [thread.id]


def test_a_meal_tells_how_far_it_is_unless_told_not_to() -> None:
    for alerts, told in ((True, ["In the kitchen", "On its way", "Delivered"]), (False, [])):
        phone = everyday(ALIVE)
        phone.facts.change(FoodSettings, order_alerts=alerts)
        phone.facts.add(FoodOrder(0, "Lotus Bowl", ("Ramen",), 14_90, "Home", phone.now))
        phone.facts.add(
            FoodOrder(0, "Stone Oven", ("Fries",), 9_00, "Home", phone.now, cancelled=True)
        )
        wait(phone, 30, 55.0)
        assert [note.text for note in news_of(phone, "Food")] == told


def test_news_of_a_trip_stand_on_its_page_and_change_nothing_of_it() -> None:
    phone = everyday(BUSY)
    trips = phone.facts.all(Trip)
    wait(phone, 150)
    assert phone.facts.all(Trip) == trips
    news = phone.facts.all(TripNews)
    assert len({(each.trip, each.about) for each in news}) == len(news)
    phone.launch("Travel")
    phone.push(Route("trip", (news[0].trip,)))
    assert news_words(news[0], phone.language) in labels(phone)


@pytest.mark.parametrize(
    ("operator", "place"), [("Lantern Air", "gate"), ("Northline", "platform")]
)
def test_flights_leave_from_gates_and_trains_from_platforms(operator: str, place: str) -> None:
    phone = everyday(BUSY)
    for each in phone.facts.all(Trip):
        phone.facts.edit(each, operator=operator)
    wait(phone, 150)
    assert {each.about for each in phone.facts.all(TripNews)} == {place, "late"}


def test_nothing_of_it_comes_to_a_phone_that_is_offline() -> None:
    phone = everyday(BUSY)
    phone.facts.add(FoodOrder(0, "Lotus Bowl", ("Ramen",), 14_90, "Home", phone.now))
    phone.facts.change(SystemSettings, airplane_mode=True)
    wait(phone, 40, 30.0)
    came = {note.app for note in phone.facts.all(Notification) if note.id in phone.state.arrived}
    assert came <= {"Settings", "Calendar"}


def test_a_phone_without_them_has_the_world_that_it_always_had() -> None:
    phone = Phone(5, BUSY)
    wait(phone, 60)
    kinds = {kind for app in EVERYDAY_APPS for kind in app.kinds}
    assert not kinds & set(phone.facts.kinds())


def test_what_clubs_ask_for_need_not_be_paid_and_may_not() -> None:
    device, judge = begun("wallet.decline_request/high_stakes/0")
    for _ in range(120):
        device.perform(Wait(5.0))
        device.perform(Home())
    facts = device.phone.facts
    asked = next(r for r in facts.all(MoneyRequest) if r.id in device.phone.state.arrived)
    declined = next(r for r in facts.all(MoneyRequest) if r.note == "Old debts")
    facts.remove(declined)
    assert judge.verdict(None).success
    pay(facts, asked.person, asked.cents, asked.note, device.phone.now)
    facts.remove(asked)
    assert not judge.verdict(None).success
