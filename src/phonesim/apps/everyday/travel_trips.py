"""The pages of Travel about booked trips: view, change, cancel, choose a seat."""

from __future__ import annotations

from datetime import date
from functools import partial

from phonesim.app import Ui, Window
from phonesim.apps.everyday.travel_booking import icon_of, times
from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.everyday.journeys import (
    CANCELLATION_CENTS,
    Connection,
    TravelSettings,
    Trip,
    connections,
)
from phonesim.contents.everyday.money import Ticket, can_pay, money, pay
from phonesim.contents.everyday.news import TripNews, news_words
from phonesim.contents.timestamps import clock
from phonesim.toolkit.boxes import Card, Column, Flow, Grid, Pad, Row
from phonesim.toolkit.controls import Button, Chip
from phonesim.toolkit.month import day_words
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

TABS = ("Coming", "Past", "Cancelled")


def trips(ui: Ui) -> Window:
    tab = ui.tab(*TABS)
    found = [trip for trip in ui.facts.all(Trip) if _belongs(trip, tab, ui.now.date())]
    rows: list[Widget] = [
        ListRow(
            f"{trip.origin} – {trip.destination}",
            f"{day_words(trip.depart.date(), ui.language)}\n{trip.operator}",
            trailing=money(trip.cents, ui.language),
            icon=icon_of(trip),
            on_tap=partial(ui.go, "trip", trip.id),
        )
        for trip in sorted(found, key=lambda trip: (trip.depart, trip.id))
    ]
    return ui.page(
        ui.tr("My trips"),
        rows or [Empty(ui.tr("No trips here"), "train")],
        tabs=ui.tabs(*map(ui.tr, TABS)),
    )


def _belongs(trip: Trip, tab: str, today: date) -> bool:
    if trip.cancelled:
        return tab == "Cancelled"
    return tab == ("Coming" if trip.depart.date() >= today else "Past")


def trip(ui: Ui, trip_id: int) -> Window:
    trip = ui.facts.get(Trip, trip_id)
    head = Column(
        [
            Text(f"{trip.origin} – {trip.destination}", "title"),
            Text(day_words(trip.depart.date(), ui.language, year=True), "body", "primary"),
            Row(
                [
                    Text(times(trip, ui.settings.use_24_hour, ui.language), "body"),
                    Text(trip.operator, "small", "muted"),
                ],
                gap=12,
            ),
        ],
        gap=6,
    )
    news = ui.facts.where(TripNews, lambda each: each.trip == trip_id)
    rows: list[Widget] = [
        Pad(Card(head, pad=16), sides=12),
        *(ListRow(news_words(each, ui.language), icon="warning") for each in news),
        ListRow(ui.tr("Booking code"), trip.code, icon="tag"),
        ListRow(ui.tr("Seat"), trip.seat, icon="bed", on_tap=lambda: ui.go("seats", trip_id)),
        ListRow(ui.tr("Traveller"), ui.tr(trip.traveller), icon="user"),
        ListRow(ui.tr("Paid"), money(trip.cents, ui.language), icon="wallet"),
    ]
    if trip.cancelled:
        return ui.page(
            ui.tr("Trip"), [Pad(Text(ui.tr("This trip was cancelled"), "strong", "danger")), *rows]
        )
    keep = [
        Button(ui.tr("Add to Wallet"), partial(_to_wallet, ui, trip), "soft", icon="wallet"),
        Button(ui.tr("Add to Calendar"), partial(_to_calendar, ui, trip), "soft", icon="calendar"),
    ]
    rows.append(Pad(Flow(keep), top=12, bottom=4))
    alter = [
        Button(ui.tr("Change"), lambda: ui.go("change", trip_id), "soft"),
        Button(ui.tr("Cancel trip"), lambda: ui.go("confirm_cancel", trip_id), "danger"),
    ]
    return ui.page(ui.tr("Trip"), rows, foot=Pad(Row(alter, align="spread")))


def ticket_of(trip: Trip) -> Ticket:
    """Return the ticket that a trip adds to Wallet."""
    detail = f"{trip.operator}, seat {trip.seat}"
    return Ticket(0, f"{trip.origin} – {trip.destination}", detail, trip.code, trip.depart.date())


def event_of(trip: Trip) -> CalendarEvent:
    """Return the event that a trip adds to Calendar."""
    minutes = int((trip.arrive - trip.depart).total_seconds()) // 60
    title = f"Trip to {trip.destination}"
    return CalendarEvent(0, title, trip.depart, minutes, trip.origin, 60, "Personal")


def _to_wallet(ui: Ui, trip: Trip) -> None:
    if ui.facts.find(Ticket, lambda ticket: ticket.code == trip.code):
        ui.say(ui.tr("It is in your wallet already"))
        return
    ui.facts.add(ticket_of(trip))
    ui.say(ui.tr("Added to Wallet"))


def _to_calendar(ui: Ui, trip: Trip) -> None:
    event = event_of(trip)
    if ui.facts.find(CalendarEvent, lambda e: (e.title, e.start) == (event.title, event.start)):
        ui.say(ui.tr("It is in your calendar already"))
        return
    ui.facts.add(event)
    ui.say(ui.tr("Added to Calendar"))


def others(ui: Ui, trip: Trip) -> tuple[Connection, ...]:
    seed = ui.facts.one(TravelSettings).seed
    return connections(seed, trip.origin, trip.destination, trip.depart.date())


def change(ui: Ui, trip_id: int) -> Window:
    trip = ui.facts.get(Trip, trip_id)
    rows: list[Widget] = [
        ListRow(
            times(each, ui.settings.use_24_hour, ui.language),
            each.operator,
            trailing=_difference(ui, each.cents - trip.cents),
            icon="clock",
            on_tap=partial(ui.go, "confirm_change", trip_id, number),
        )
        for number, each in enumerate(others(ui, trip))
        if each.depart != trip.depart
    ]
    leaving = day_words(trip.depart.date(), ui.language)
    heading = ui.tr("To {name}, {day}", name=trip.destination, day=leaving)
    return ui.page(
        ui.tr("Other times"),
        [Heading(heading), *rows],
    )


def _difference(ui: Ui, cents: int) -> str:
    return f"+{money(cents, ui.language)}" if cents > 0 else ui.tr("no charge")


def confirm_change(ui: Ui, trip_id: int, number: int) -> Window:
    trip = ui.facts.get(Trip, trip_id)
    each = others(ui, trip)[number]
    extra = max(0, each.cents - trip.cents)

    def confirm() -> None:
        if not can_pay(ui.facts, extra):
            ui.go("not_paid", extra)
            return
        if extra:
            pay(ui.facts, each.operator, extra, f"Change of {trip.code}", ui.now)
        ui.facts.edit(trip, depart=each.depart, arrive=each.arrive, operator=each.operator)
        ui.back()
        ui.say(ui.tr("Your trip was changed"))

    leaves = clock(each.depart, ui.settings.use_24_hour, ui.language)
    words = ui.tr("You will leave at {time}. It costs nothing.", time=leaves)
    if extra:
        words = ui.tr(
            "You will leave at {time}. It costs {amount} more.",
            time=leaves,
            amount=money(extra, ui.language),
        )
    return ui.dialog(
        ui.tr("Change trip?"), words, {ui.tr("Keep"): None, ui.tr("Change trip"): confirm}
    )


def confirm_cancel(ui: Ui, trip_id: int) -> Window:
    trip = ui.facts.get(Trip, trip_id)
    refund = max(0, trip.cents - CANCELLATION_CENTS)

    def cancel() -> None:
        ui.facts.edit(trip, cancelled=True)
        pay(ui.facts, trip.operator, -refund, f"Refund of {trip.code}", ui.now)
        ui.say(ui.tr("Trip cancelled"))

    amount = money(refund, ui.language)
    text = ui.tr("You get {amount} back. This cannot be undone.", amount=amount)
    return ui.dialog(
        ui.tr("Cancel this trip?"), text, {ui.tr("Keep"): None, ui.tr("Cancel it"): cancel}
    )


def seats(ui: Ui, trip_id: int) -> Window:
    trip = ui.facts.get(Trip, trip_id)
    row = int("".join(sign for sign in trip.seat if sign.isdecimal()) or 1)

    def sit(seat: str) -> None:
        ui.facts.edit(trip, seat=seat)
        ui.back()
        ui.say(ui.tr("Your seat is {seat}", seat=seat))

    cells: list[Widget] = [
        Chip(
            f"{number}{letter}", partial(sit, f"{number}{letter}"), f"{number}{letter}" == trip.seat
        )
        for number in range(max(1, row - 3), max(1, row - 3) + 8)
        for letter in "ACDF"
    ]
    hint = Pad(Text(ui.tr("A and F are at the window, C and D at the aisle"), "small", "muted"))
    return ui.page(ui.tr("Choose a seat"), [hint, Pad(Grid(cells, 4, 10), sides=24)])
