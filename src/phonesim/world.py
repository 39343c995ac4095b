"""What happens on a phone by itself while its clock goes on, if its drift has an event rate.

Alarms and timers ring when they are due, calendars remind, the battery falls. Every five seconds of
the phone's clock may bring a message, a mail, a call or news of an order; who has been written to
answers after a while. All of it follows from the seed and the phone's clock, so that a snapshot
goes on as the phone itself would.

What the world adds or changes is remembered in the phone's state (`arrived`, `moved`), for judges:
nobody is to blame for it. Services write from conversations of their own and orders move only once
they can no longer be cancelled, so that no task becomes impossible on the way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from phonesim.apps.mail import Mail, UnreadMail
from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.calls import Call, blocked_number
from phonesim.contents.conversations import (
    Conversation,
    Message,
    UnreadConversation,
    conversation_with,
)
from phonesim.contents.letters import LETTERS
from phonesim.contents.people import Contact, caller, names_by_number, number_for
from phonesim.contents.small_talk import SERVICES
from phonesim.contents.timepieces import Alarm, Timer
from phonesim.facts import R
from phonesim.state import Due
from phonesim.system import InstalledApp, Notification, SystemSettings
from phonesim.web.basket import STATUSES, Order

if TYPE_CHECKING:
    from phonesim.phone import Phone

TICK = 5  # seconds of the phone's clock
SECONDS_PER_PERCENT = 60  # of the battery
LOW_BATTERY = 15  # per cent
SNOOZE = timedelta(minutes=10)
ON_THE_WAY = STATUSES[1:5]  # from packed to delivered
REPLIES = (
    "Got it, thanks!",
    "Sounds good",
    "Can I call you later?",
    "Sure, no problem",
    "On my way",
    "Let me check and get back to you",
)
EPOCH = datetime(2000, 1, 1)


def pass_time(phone: Phone, before: datetime) -> None:
    """Let happen what happens after `before`, up to the phone's time."""
    _drain_battery(phone, before)
    _await_replies(phone, before)
    for _, kind, about in sorted(_due(phone, before)):
        WHEN_DUE[kind](phone, about)
    for tick in range(_tick(before) + 1, _tick(phone.now) + 1):
        if phone.uniform("event", tick) < phone.state.drift.event_rate:
            rng = random.Random(f"event/{phone.state.seed}/{tick}")
            rng.choice(EVENTS)(phone, rng)


def snooze(phone: Phone, alarm_id: int) -> None:
    """Let an alarm ring again later."""
    phone.update(due=(*phone.state.due, (phone.now + SNOOZE, "alarm", alarm_id)))
    phone.say(phone.language.tr("Snoozed for 10 minutes"))


def _tick(moment: datetime) -> int:
    return int((moment - EPOCH).total_seconds()) // TICK


# What the world does to facts, on record ----------------------------------------------------------


def _arrive(phone: Phone, record: R) -> R:
    """Add a record that is nobody's doing."""
    stored = phone.facts.add(record)
    phone.update(arrived=(*phone.state.arrived, stored.id))
    return stored


def _move(phone: Phone, record: Any, **fields: Any) -> None:
    """Change a record without anybody's doing."""
    phone.facts.edit(record, **fields)
    moved = dict.fromkeys((*phone.state.moved, *((record.id, name) for name in fields)))
    phone.update(moved=tuple(moved))


def _notify(phone: Phone, app: str, title: str, text: str) -> None:
    """Put a notification into the shade; it shows at the top if nothing else is in the way."""
    installed = phone.facts.find(InstalledApp, lambda each: each.name == app)
    if installed is None or not installed.notifications:
        return
    note = _arrive(phone, Notification(0, app, title, text))
    busy = phone.state.popup or phone.state.overlay or phone.state.asleep
    if not busy and not phone.facts.one(SystemSettings).do_not_disturb:
        phone.update(heads_up=note.id)


def _offline(phone: Phone) -> bool:
    settings = phone.facts.one(SystemSettings)
    return settings.airplane_mode or not (settings.wifi or settings.mobile_data)


# What is due --------------------------------------------------------------------------------------


def _due(phone: Phone, before: datetime) -> Iterator[Due]:
    """What falls into the time since `before`: what was waiting, and what facts have a time for."""
    now, waiting = phone.now, phone.state.due
    if waiting:
        phone.update(due=tuple(each for each in waiting if each[0] > now))
        yield from (each for each in waiting if each[0] <= now)
    for alarm in phone.facts.where(Alarm, lambda each: each.enabled):
        for day in {before.date(), now.date()}:
            rings = datetime(day.year, day.month, day.day, alarm.hour, alarm.minute)
            if before < rings <= now and (not alarm.days or rings.weekday() in alarm.days):
                yield rings, "alarm", alarm.id
    for timer in phone.facts.all(Timer):
        if timer.ends is not None and before < timer.ends <= now:
            yield timer.ends, "timer", timer.id
    for event in phone.facts.where(CalendarEvent, lambda each: each.reminder is not None):
        reminds = event.start - timedelta(minutes=event.reminder or 0)
        if before < reminds <= now:
            yield reminds, "reminder", event.id


def _ring(phone: Phone, kind: str, about: int) -> None:
    """Ring over whatever is in front; while something else does, wait."""
    if phone.state.popup:
        later = phone.now + timedelta(seconds=2 * TICK)
        phone.update(due=(*phone.state.due, (later, kind, about)))
    else:
        phone.update(overlay=None, asleep=False)  # whoever was typing goes on afterwards
        phone.show_popup(f"{kind}:{about}")


def _ring_alarm(phone: Phone, alarm_id: int) -> None:
    if phone.facts.find(Alarm, lambda each: each.id == alarm_id):
        _ring(phone, "alarm", alarm_id)


def _ring_timer(phone: Phone, timer_id: int) -> None:
    if phone.facts.find(Timer, lambda each: each.id == timer_id):
        _ring(phone, "timer", timer_id)


def _remind(phone: Phone, event_id: int) -> None:
    event = phone.facts.find(CalendarEvent, lambda each: each.id == event_id)
    if event is not None:
        _notify(phone, "Calendar", event.title, f"{event.start:%H:%M} {event.place}".strip())


def _reply(phone: Phone, conversation_id: int) -> None:
    """Whoever was written to answers."""
    chat = phone.facts.find(Conversation, lambda each: each.id == conversation_id)
    if chat is not None and not _offline(phone):
        share = phone.uniform("reply", chat.number, _tick(phone.now))
        _write_message(phone, chat, REPLIES[int(share * len(REPLIES))])


WHEN_DUE: dict[str, Callable[[Phone, int], None]] = {
    "alarm": _ring_alarm,
    "timer": _ring_timer,
    "reminder": _remind,
    "reply": _reply,
}


def _await_replies(phone: Phone, before: datetime) -> None:
    """What was sent just now, on the screen of before, will be answered in 20 to 60 seconds."""
    sent = phone.facts.where(Message, lambda each: each.ours and each.time == before)
    for message in sent:
        wait = 20 + 40 * phone.uniform("reply after", message.conversation, _tick(phone.now))
        reply = (phone.now + timedelta(seconds=round(wait)), "reply", message.conversation)
        phone.update(due=(*phone.state.due, reply))


def _drain_battery(phone: Phone, before: datetime) -> None:
    """A per cent for each full minute of the phone's clock."""
    passed = [
        int((at - EPOCH).total_seconds()) // SECONDS_PER_PERCENT for at in (before, phone.now)
    ]
    settings = phone.facts.one(SystemSettings)
    left = max(1, settings.battery_percent - (passed[1] - passed[0]))
    if left == settings.battery_percent:
        return
    _move(phone, settings, battery_percent=left)
    if left <= LOW_BATTERY < settings.battery_percent:
        _notify(phone, "Settings", "Battery is getting low", f"{left}% left")


# What comes ---------------------------------------------------------------------------------------


def _write_message(phone: Phone, chat: Conversation, text: str) -> None:
    _arrive(phone, Message(0, chat.id, text, False, phone.now))
    _arrive(phone, UnreadConversation(conversation=chat.id))
    if not chat.muted:
        _notify(phone, "Messages", caller(names_by_number(phone.facts), chat.number), text)


def _message(phone: Phone, rng: random.Random) -> None:
    sender, text = rng.choice(SERVICES)
    if _offline(phone):
        return
    chat = conversation_with(phone.facts, sender) or _arrive(phone, Conversation(number=sender))
    _write_message(phone, chat, text)


def _mail(phone: Phone, rng: random.Random) -> None:
    letter = rng.choice(LETTERS)
    if _offline(phone):
        return
    sender, address, subject, body = letter
    mail = Mail(sender=sender, address=address, subject=subject, body=body, time=phone.now)
    _arrive(phone, UnreadMail(mail=_arrive(phone, mail).id))
    _notify(phone, "Mail", sender, subject)


def _call(phone: Phone, rng: random.Random) -> None:
    """Somebody calls: it is a missed call until it is answered."""
    numbers = [contact.phone for contact in phone.facts.all(Contact) if contact.phone]
    number = rng.choice([*numbers[:8], number_for(rng)])
    settings = phone.facts.one(SystemSettings)
    in_call = phone.facts.find(Call, lambda each: not each.ended)
    if settings.airplane_mode or in_call or blocked_number(phone.facts, number):
        return
    call = _arrive(phone, Call(0, number, "missed", phone.now))
    if settings.do_not_disturb or phone.state.popup:
        _notify(phone, "Phone", "Missed call", caller(names_by_number(phone.facts), number))
    else:
        _ring(phone, "call", call.id)


def _order(phone: Phone, rng: random.Random) -> None:
    """An order that can no longer be cancelled goes one step further."""
    moving = phone.facts.where(Order, lambda each: each.status in ON_THE_WAY[:-1])
    if not moving or _offline(phone):
        return
    order = rng.choice(moving)
    status = ON_THE_WAY[ON_THE_WAY.index(order.status) + 1]
    _move(phone, order, status=status)
    _notify(phone, "Browser", order.shop, f"Order {order.number}: {status.lower()}")


EVENTS = (_message, _message, _message, _mail, _mail, _call, _call, _order)
