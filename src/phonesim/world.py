"""World events: what changes on a phone without an action, if its drift has an event rate.

Alarms and timers ring when they are due, calendars remind, the battery drains. Every five seconds
of the phone's clock may bring a message, a mail, a call or news of an order; people who were sent a
message reply after a while. Phones with the everyday apps have their events too
(`everyday_events`). All of it follows from the seed and the phone's clock, so that a restored
snapshot continues as the phone itself would. Texts are in the phone's language.

What the world adds or changes is listed in the phone's state (`arrived`, `moved`), so that judges
do not blame the agent for it. Services write in conversations of their own, and orders move only
once they can no longer be cancelled, so that no task becomes impossible on the way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from phonesim import everyday_events
from phonesim.apps.mail import Mail, UnreadMail
from phonesim.arrivals import EPOCH, TICK, Event, arrive, is_offline, move, notify, tick
from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.calls import Call, blocked_number
from phonesim.contents.conversations import (
    Conversation,
    Message,
    UnreadConversation,
    conversation_with,
    is_unread,
)
from phonesim.contents.letters import LETTERS
from phonesim.contents.people import Contact, caller, names_by_number, number_for
from phonesim.contents.small_talk import REPLIES, SERVICES
from phonesim.contents.timepieces import Alarm, Timer
from phonesim.state import Due
from phonesim.system import SystemSettings
from phonesim.web.basket import STATUSES, Order

if TYPE_CHECKING:
    from phonesim.phone import Phone

SECONDS_PER_PERCENT = 60  # of the battery
LOW_BATTERY = 15  # per cent
SNOOZE = timedelta(minutes=10)
ON_THE_WAY = STATUSES[1:5]  # from packed to delivered
ORDER_NEWS = {
    "Shipped": "Order {number}: shipped",
    "Out for delivery": "Order {number}: out for delivery",
    "Delivered": "Order {number}: delivered",
}


def pass_time(phone: Phone, before: datetime) -> None:
    """Apply the events after `before`, up to the phone's time."""
    _drain_battery(phone, before)
    _await_replies(phone, before)
    for _, kind, about in sorted(_due(phone, before)):
        WHEN_DUE[kind](phone, about)
    events = EVENTS + (everyday_events.EVENTS if everyday_events.installed(phone) else ())
    for number in range(tick(before) + 1, tick(phone.now) + 1):
        if phone.uniform("event", number) < phone.state.drift.event_rate:
            rng = random.Random(f"event/{phone.state.seed}/{number}")
            rng.choice(events)(phone, rng)


def snooze(phone: Phone, alarm_id: int) -> None:
    """Let an alarm ring again later."""
    phone.update(due=(*phone.state.due, (phone.now + SNOOZE, "alarm", alarm_id)))
    phone.say(phone.language.tr("Snoozed for 10 minutes"))


# What is due --------------------------------------------------------------------------------------


def _due(phone: Phone, before: datetime) -> Iterator[Due]:
    """Yield events due since `before`: scheduled ones, and those whose time is in the facts."""
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
    yield from everyday_events.due(phone, before)


def _ring(phone: Phone, kind: str, about: int) -> None:
    """Ring over whatever is in front; postpone it while another pop-up is open."""
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
        starts = phone.language.time(event.start, phone.facts.one(SystemSettings).use_24_hour)
        notify(phone, "Calendar", event.title, f"{starts} {event.place}".strip())


def _reply(phone: Phone, conversation_id: int) -> None:
    """Add a reply to a conversation in which the user wrote."""
    chat = phone.facts.find(Conversation, lambda each: each.id == conversation_id)
    if chat is not None and not is_offline(phone):
        share = phone.uniform("reply", chat.number, tick(phone.now))
        _write_message(phone, chat, phone.language.tr(REPLIES[int(share * len(REPLIES))]))


WHEN_DUE: dict[str, Callable[[Phone, int], None]] = {
    "alarm": _ring_alarm,
    "timer": _ring_timer,
    "reminder": _remind,
    "reply": _reply,
    **everyday_events.WHEN_DUE,
}


def _await_replies(phone: Phone, before: datetime) -> None:
    """Schedule replies, 20 to 60 seconds from now, to messages sent at `before`."""
    sent = phone.facts.where(Message, lambda each: each.ours and each.time == before)
    for message in sent:
        wait = 20 + 40 * phone.uniform("reply after", message.conversation, tick(phone.now))
        reply = (phone.now + timedelta(seconds=round(wait)), "reply", message.conversation)
        phone.update(due=(*phone.state.due, reply))
    everyday_events.await_replies(phone, before)


def _drain_battery(phone: Phone, before: datetime) -> None:
    """Reduce the battery by one per cent for each full minute of the phone's clock."""
    passed = [
        int((at - EPOCH).total_seconds()) // SECONDS_PER_PERCENT for at in (before, phone.now)
    ]
    settings = phone.facts.one(SystemSettings)
    left = max(1, settings.battery_percent - (passed[1] - passed[0]))
    if left == settings.battery_percent:
        return
    move(phone, settings, battery_percent=left)
    if left <= LOW_BATTERY < settings.battery_percent:
        words = phone.language.tr("{percent} left", percent=phone.language.percent(left / 100))
        notify(phone, "Settings", "Battery is getting low", words)


# What comes ---------------------------------------------------------------------------------------


def _write_message(phone: Phone, chat: Conversation, text: str) -> None:
    arrive(phone, Message(0, chat.id, text, False, phone.now))
    if not is_unread(phone.facts, chat):
        arrive(phone, UnreadConversation(conversation=chat.id))
    if not chat.muted:
        notify(phone, "Messages", caller(names_by_number(phone.facts), chat.number), text)


def _message(phone: Phone, rng: random.Random) -> None:
    sender, text = rng.choice(SERVICES)
    if is_offline(phone):
        return
    chat = conversation_with(phone.facts, sender) or arrive(phone, Conversation(number=sender))
    _write_message(phone, chat, phone.language.tr(text))


def _mail(phone: Phone, rng: random.Random) -> None:
    letter = rng.choice(LETTERS)
    if is_offline(phone):
        return
    sender, address, subject, body = letter
    mail = Mail(sender=sender, address=address, subject=subject, body=body, time=phone.now)
    arrive(phone, UnreadMail(mail=arrive(phone, mail).id))
    notify(phone, "Mail", sender, subject)


def _call(phone: Phone, rng: random.Random) -> None:
    """Add an incoming call, which is a missed call until it is answered."""
    numbers = [contact.phone for contact in phone.facts.all(Contact) if contact.phone]
    number = rng.choice([*numbers[:8], number_for(rng)])
    settings = phone.facts.one(SystemSettings)
    in_call = phone.facts.find(Call, lambda each: not each.ended)
    if settings.airplane_mode or in_call or blocked_number(phone.facts, number):
        return
    call = arrive(phone, Call(0, number, "missed", phone.now))
    if settings.do_not_disturb or phone.state.popup:
        notify(phone, "Phone", "Missed call", caller(names_by_number(phone.facts), number))
    else:
        _ring(phone, "call", call.id)


def _order(phone: Phone, rng: random.Random) -> None:
    """Advance the status of an order that can no longer be cancelled."""
    moving = phone.facts.where(Order, lambda each: each.status in ON_THE_WAY[:-1])
    if not moving or is_offline(phone):
        return
    order = rng.choice(moving)
    status = ON_THE_WAY[ON_THE_WAY.index(order.status) + 1]
    move(phone, order, status=status)
    news = phone.language.tr(ORDER_NEWS[status], number=order.number)
    notify(phone, "Browser", order.shop, news)


EVENTS: tuple[Event, ...] = (_message, _message, _message, _mail, _mail, _call, _call, _order)
