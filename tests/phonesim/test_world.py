"""Time passes where it is asked to: things ring, arrive and move, by the seed and the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.phonesim.tasks.unwatched import play_unwatched
from tests.slow_params import one_in

from distrl.agent.simple_policies import MonkeyPolicy
from distrl.episodes.demonstrations import demonstrate
from distrl.records import Back, Ending, Home, OpenApp, Tap, Wait
from phonesim.apps.mail import Mail, UnreadMail
from phonesim.contents.calls import Call
from phonesim.contents.conversations import Conversation, Message, messages_of
from phonesim.contents.timepieces import Alarm, Timer
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.drift import NO_DRIFT, Drift
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice
from phonesim.snapshot import from_bytes, to_bytes
from phonesim.system import Notification, SystemSettings
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.moves import Say
from phonesim.tasks.task_sets import load_task, splits_of, templates
from phonesim.web.basket import Order

ALIVE = replace(NO_DRIFT, event_rate=1e-9)  # what is due rings, nothing else comes
BUSY = replace(NO_DRIFT, event_rate=0.5)


def labels(phone: Phone) -> set[str]:
    return {element.text for element in phone.elements()}


def alarm_in(phone: Phone, minutes: int) -> Alarm:
    rings = phone.now + timedelta(minutes=minutes)
    return phone.facts.add(Alarm(0, rings.hour, rings.minute, "Tea"))


def test_nothing_happens_by_itself_unless_asked() -> None:
    phone = Phone(5)
    alarm_in(phone, 2)
    facts = dict(phone.facts.tables())
    phone.perform(Wait(600.0))
    assert dict(phone.facts.tables()) == facts
    assert (phone.state.popup, phone.state.arrived, phone.state.moved) == (None, (), ())


def test_an_alarm_rings_over_whatever_is_in_front_and_goes_when_dismissed() -> None:
    phone = Phone(5, ALIVE)
    phone.perform(OpenApp("Notes"))
    alarm_in(phone, 2)
    phone.perform(Wait(60.0))
    assert phone.state.popup is None
    phone.perform(Wait(60.0))
    assert {"Alarm", "Dismiss", "Snooze"} <= labels(phone)
    Finger(phone).tap("Dismiss")
    assert phone.state.popup is None
    assert phone.state.front == "Notes"
    phone.perform(Wait(600.0))
    assert phone.state.popup is None


def test_a_snoozed_alarm_rings_again_after_ten_minutes() -> None:
    phone = Phone(5, ALIVE)
    alarm_in(phone, 1)
    phone.perform(Wait(60.0))
    Finger(phone).tap("Snooze")
    phone.perform(Wait(540.0))
    assert phone.state.popup is None
    phone.perform(Wait(60.0))
    assert "Alarm" in labels(phone)


def test_a_timer_rings_when_it_ends() -> None:
    phone = Phone(5, ALIVE)
    timer = phone.facts.add(Timer(seconds=60, ends=phone.now + timedelta(seconds=60)))
    phone.perform(Wait(60.0))
    assert "Time is up" in labels(phone)
    Finger(phone).tap("Add 1 minute")
    ends = phone.facts.get(Timer, timer.id).ends
    assert ends is not None
    assert ends > phone.now


def test_two_that_ring_at_once_ring_one_after_the_other() -> None:
    phone = Phone(5, ALIVE)
    alarm_in(phone, 1)
    phone.facts.add(Timer(seconds=60, ends=phone.now + timedelta(seconds=60)))
    phone.perform(Wait(60.0))
    first = phone.state.popup
    phone.perform(Back())
    phone.perform(Wait(10.0))
    assert {(first or "").partition(":")[0], (phone.state.popup or "").partition(":")[0]} == {
        "alarm", "timer",
    }  # fmt: skip


def test_the_battery_falls_with_the_clock() -> None:
    phone = Phone(5, ALIVE)
    before = phone.facts.one(SystemSettings).battery_percent
    phone.perform(Wait(600.0))
    assert phone.facts.one(SystemSettings).battery_percent == before - 10


def test_whoever_is_written_to_answers() -> None:
    phone = Phone(5, ALIVE)
    phone.perform(OpenApp("Messages"))
    finger = Finger(phone)
    finger.tap(next(e for e in phone.elements() if e.role == "row" and e.clickable).text)
    finger.fill("Text message", "Are you there?")
    finger.tap("Send")
    sent = phone.facts.all(Message)[-1]
    chat = phone.facts.get(Conversation, sent.conversation)
    assert messages_of(phone.facts, chat)[-1] == sent
    phone.perform(Wait(70.0))
    answer = messages_of(phone.facts, chat)[-1]
    assert (answer.ours, answer.time > sent.time) == (False, True)
    assert answer.id in phone.state.arrived


def until(phone: Phone, what: str) -> None:
    """Let minutes pass until something of that kind has come."""
    for _ in range(60):
        phone.perform(Wait(5.0))
        if (phone.state.popup or "").startswith(what):
            return
        phone.perform(Home())
    raise AssertionError(f"no {what} came")


def test_a_call_is_missed_or_answered() -> None:
    phone = Phone(5, BUSY)
    until(phone, "call:")
    call = phone.facts.get(Call, int((phone.state.popup or "").partition(":")[2]))
    assert call.direction == "missed"
    phone.perform(Back())
    assert phone.facts.get(Call, call.id).direction == "missed"
    until(phone, "call:")
    number = int((phone.state.popup or "").partition(":")[2])
    Finger(phone).tap("Answer")
    assert (phone.state.front, phone.routes[-1].page) == ("Phone", "in_call")
    assert phone.facts.get(Call, number).direction == "incoming"


def test_news_show_at_the_top_until_the_next_action_and_open_their_app() -> None:
    phone = Phone(5, BUSY)
    while not phone.state.heads_up:
        phone.perform(Wait(5.0))
        if phone.state.popup:
            phone.perform(Back())
    note = phone.facts.get(Notification, phone.state.heads_up)
    card = next(e for e in phone.elements() if e.window == "heads_up")
    assert (card.text, card.detail) == (note.title, note.text)
    x, y = card.centre
    phone.perform(Tap(x / WIDTH, y / HEIGHT))
    assert phone.state.front == note.app


def test_silence_is_kept() -> None:
    phone = Phone(5, BUSY)
    phone.facts.change(SystemSettings, airplane_mode=True, wifi=False, mobile_data=False)
    for _ in range(40):
        phone.perform(Wait(30.0))
    assert phone.state.popup is None
    came = [note.app for note in phone.facts.all(Notification) if note.id in phone.state.arrived]
    assert {*came} <= {"Settings", "Calendar"}
    assert len(came) == len(phone.state.arrived)


def test_orders_move_once_they_cannot_be_cancelled() -> None:
    phone = Phone(5, BUSY)
    before = {order.id: order.status for order in phone.facts.all(Order)}
    for _ in range(30):
        phone.perform(Wait(600.0))
    after = {order.id: order.status for order in phone.facts.all(Order)}
    assert after != before
    assert all(after[i] == "Processing" for i, status in before.items() if status == "Processing")


@pytest.mark.seeds(1, 10)
def test_a_snapshot_goes_on_as_the_phone_itself(seed: int) -> None:
    phone, monkey = Phone(seed, Drift(event_rate=0.3)), MonkeyPolicy(seed)
    for _ in range(40):
        phone.perform(monkey.act())
    packed = to_bytes(phone.snapshot())
    actions = [monkey.act() for _ in range(40)]
    other = Phone()
    other.restore(from_bytes(packed))
    for action in actions:
        phone.perform(action)
        other.perform(action)
        assert (phone.frame() == other.frame()).all()
    assert dict(phone.facts.tables()) == dict(other.facts.tables())
    assert phone.state.arrived


@pytest.mark.seeds(2, 40)
def test_nothing_that_happens_breaks_the_phone(seed: int) -> None:
    phone, monkey = Phone(seed, Drift(event_rate=0.5)), MonkeyPolicy(seed)
    for _ in range(250):
        phone.perform(monkey.act())
        phone.frame()


@pytest.mark.parametrize("name", one_in(12, templates()))
def test_its_solution_succeeds_while_things_happen(name: str) -> None:
    device = SimulatedDevice("alive", drift=Drift(popup_rate=0.0, event_rate=0.12))
    first, *others = (f"{name}/{splits_of(templates()[name])[0]}/{number}" for number in range(3))
    watched = demonstrate(load_task(first)[0], device)
    assert watched.ending is Ending.SUCCESS, f"{first}: {watched.verdict}"
    for each in others:
        assert (verdict := play_unwatched(each, device).verdict).success, f"{each}: {verdict}"


def begun(task_id: str) -> tuple[SimulatedDevice, FactJudge]:
    device = SimulatedDevice("judged", BUSY)
    task, _ = load_task(task_id)
    device.reset(task.seed)
    judge = FactJudge(device)
    judge.begin(task)
    return device, judge


def test_nobody_is_blamed_for_what_the_world_did() -> None:
    device, judge = begun("notes.create/train/3")
    for _ in range(60):
        device.perform(Wait(60.0))
        device.perform(Back())
    assert device.phone.state.arrived
    verdict = judge.verdict(None)
    assert verdict.progress == 0.0
    assert verdict.collateral == ()


def test_an_answer_may_count_what_has_come_meanwhile() -> None:
    device, judge = begun("mail.count_unread/train/3")
    *_, said = judge.template.solve(judge.start)
    assert isinstance(said, Say)
    phone, more = device.phone, str(int(said.text) + 1)
    assert (judge.verdict(said.text).success, judge.verdict(more).success) == (True, False)
    mail = phone.facts.add(Mail(folder=judge.template.words()["folder"], subject="News"))
    mark = phone.facts.add(UnreadMail(mail=mail.id))
    assert "Mail 'News'" in judge.verdict(said.text).reason or not judge.verdict(more).success
    phone.update(arrived=(mail.id, mark.id))
    assert (judge.verdict(said.text).success, judge.verdict(more).success) == (True, True)
    assert not judge.verdict(f"{said.text}5").success
