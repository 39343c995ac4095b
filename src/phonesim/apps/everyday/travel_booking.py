"""The pages of Travel from a search's results to a booked trip."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.calendar_events import duration_words
from phonesim.contents.everyday.journeys import (
    Connection,
    Traveller,
    TravelSettings,
    Trip,
    WatchedRoute,
    connections,
    trip_of,
)
from phonesim.contents.everyday.money import Account, can_pay, money, pay
from phonesim.contents.timestamps import clock
from phonesim.toolkit.agenda import AgendaRow
from phonesim.toolkit.boxes import Card, Column, Grid, Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.month import day_words
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Icon, Text
from phonesim.toolkit.widget import Widget

ORDERS: dict[str, Callable[[Connection], float]] = {
    "Earliest": lambda each: each.depart.timestamp(),
    "Cheapest": lambda each: each.cents,
    "Fastest": lambda each: each.minutes,
}
RAIL, ROAD, AIR = (40, 130, 120), (196, 120, 40), (70, 100, 200)
COLORS = {"Bluebird Coaches": ROAD, "Indigo Air": AIR}


def found(ui: Ui, origin: str, destination: str, day: str) -> tuple[Connection, ...]:
    """What runs; where the route is the same city twice, nothing."""
    seed = ui.facts.one(TravelSettings).seed
    return connections(seed, origin, destination, date.fromisoformat(day))


def times(each: Connection, in_24: bool) -> str:
    """The label of a connection: when it leaves and arrives."""
    return f"{clock(each.depart, in_24)} – {clock(each.arrive, in_24)}"


def results(ui: Ui, origin: str, destination: str, day: str) -> Window:
    order, in_24 = ui.text("order", "Earliest"), ui.settings.use_24_hour
    shown = sorted(
        enumerate(found(ui, origin, destination, day)), key=lambda p: ORDERS[order](p[1])
    )
    rows: list[Widget] = [
        AgendaRow(
            money(each.cents),
            clock(each.depart, in_24),
            clock(each.arrive, in_24),
            f"{each.operator}, {duration_words(each.minutes)}, {_stops(each)}",
            COLORS.get(each.operator, RAIL),
            on_tap=partial(ui.go, "connection", origin, destination, day, number),
        )
        for number, each in shown
    ]
    watch = IconButton("eye", "Watch this route", partial(_watch, ui, origin, destination))
    return ui.page(
        f"{origin} – {destination}",
        rows or [Empty("Nothing runs on that day", "train")],
        head=Pad(
            Row(
                [
                    Text(day_words(date.fromisoformat(day)), "small", "muted"),
                    Button(order, lambda: ui.go("sort", order), "soft", icon="sort", high=34),
                ],
                stretch=0,
            ),
            sides=14,
            top=6,
            bottom=6,
        ),
        actions=[
            watch,
            IconButton("list", "Compare", lambda: ui.go("compare", origin, destination, day)),
        ],
    )


def _stops(each: Connection) -> str:
    return ("direct", "1 stop", "2 stops")[each.stops]


def _watch(ui: Ui, origin: str, destination: str) -> None:
    known = ui.facts.find(
        WatchedRoute, lambda r: (r.origin, r.destination) == (origin, destination)
    )
    if known is None:
        ui.facts.add(WatchedRoute(origin=origin, destination=destination))
    ui.say("We watch the prices")


def sort(ui: Ui, chosen: str) -> Window:
    choices = {order: partial(ui.set, "order", order) for order in ORDERS}
    return ui.sheet("Sort by", choices, chosen=chosen)


def compare(ui: Ui, origin: str, destination: str, day: str) -> Window:
    """The cheapest beside the fastest."""
    shown = found(ui, origin, destination, day)
    if not shown:
        return ui.page("Compare", [Empty("Nothing to compare", "train")])
    columns: list[Widget] = []
    for title in ("Cheapest", "Fastest"):
        best = min(shown, key=ORDERS[title])
        lines: list[Widget] = [
            Text(title, "strong", "primary"),
            Text(money(best.cents), "title"),
            Text(times(best, ui.settings.use_24_hour), "small"),
            Text(duration_words(best.minutes), "small"),
            Text(_stops(best), "small", "muted"),
            Text(best.operator, "small", "muted"),
        ]
        go = partial(ui.go, "connection", origin, destination, day, shown.index(best))
        columns.append(Card(Column(lines, gap=8), f"{title} connection", on_tap=go))
    heading = Pad(Text(f"{origin} – {destination}", "title"))
    return ui.page("Compare", [heading, Pad(Grid(columns, 2, 10), sides=12)])


def connection(ui: Ui, origin: str, destination: str, day: str, number: int) -> Window:
    each, in_24 = found(ui, origin, destination, day)[number], ui.settings.use_24_hour
    return ui.page(
        "Connection",
        [
            Pad(Text(day_words(each.depart.date(), year=True), "body", "primary")),
            ListRow(origin, "Departure", trailing=clock(each.depart, in_24), icon="location"),
            ListRow(
                f"{duration_words(each.minutes)}, {_stops(each)}",
                each.operator,
                icon="airplane" if each.operator == "Indigo Air" else "train",
            ),
            ListRow(destination, "Arrival", trailing=clock(each.arrive, in_24), icon="flag"),
            Pad(Text(money(each.cents), "headline"), top=14, bottom=2),
            Pad(Text("Can be changed and cancelled", "small", "muted"), top=0),
        ],
        foot=Pad(
            Button("Book", lambda: ui.go("checkout", origin, destination, day, number), icon="card")
        ),
    )


def checkout(ui: Ui, origin: str, destination: str, day: str, number: int) -> Window:
    each = found(ui, origin, destination, day)[number]
    traveller = ui.text("traveller", "Me")

    def confirm() -> None:
        if not can_pay(ui.facts, each.cents):
            ui.go("not_paid", each.cents)
            return
        pay(ui.facts, each.operator, each.cents, f"Ticket to {destination}", ui.now)
        trip = ui.facts.add(trip_of(each, ui.facts.one(TravelSettings), traveller))
        ui.back(3)
        ui.go("booked", trip.id)

    return ui.page(
        "Check and pay",
        [
            ListRow(
                f"{origin} – {destination}", times(each, ui.settings.use_24_hour), icon="train"
            ),
            ListRow("Day", day_words(each.depart.date()), icon="calendar"),
            ListRow(
                "Traveller",
                traveller,
                icon="user",
                on_tap=lambda: ui.go("choose_traveller", traveller),
            ),
            ListRow(
                "Paid from",
                f"Wallet, {money(ui.facts.one(Account).balance_cents)}",
                icon="wallet",
            ),
            Pad(Row([Text("Total", "title"), Text(money(each.cents), "title")], stretch=0), top=14),
        ],
        foot=Pad(Button(f"Pay {money(each.cents)}", confirm)),
    )


def choose_traveller(ui: Ui, chosen: str) -> Window:
    people = [person.name for person in ui.facts.all(Traveller)]
    choices = {name: partial(ui.set, "traveller", name) for name in people}
    return ui.sheet("Who travels?", choices, chosen=chosen)


def booked(ui: Ui, trip_id: int) -> Window:
    trip = ui.facts.get(Trip, trip_id)
    return ui.page(
        "Booked",
        [
            Pad(Icon("check_circle", 72, "primary"), top=32),
            Pad(Text("Have a good trip!", "headline", align="centre")),
            Pad(Text(f"{trip.origin} – {trip.destination}", "body", align="centre")),
            Pad(Text(f"Booking code {trip.code}", "title", "primary", align="centre")),
        ],
        foot=Pad(Button("Show trip", lambda: ui.swap("trip", trip_id), "soft")),
    )


def not_paid(ui: Ui, cents: int) -> Window:
    """An error page: the account does not hold as much."""
    return ui.page(
        "Not booked",
        [
            Pad(Icon("error", 72, "danger"), top=32),
            Pad(Text("The payment was declined", "title", align="centre")),
            Pad(Text(f"Your wallet does not hold {money(cents)}.", "body", align="centre")),
        ],
        foot=Pad(Button("Open Wallet", lambda: ui.launch("Wallet"), "soft")),
    )
