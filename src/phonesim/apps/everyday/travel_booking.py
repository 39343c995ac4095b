"""The pages of Travel from the search results to a booked trip."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.calendar_events import duration_words
from phonesim.contents.everyday.journeys import (
    MEANS_OF,
    Connection,
    Means,
    Traveller,
    TravelSettings,
    Trip,
    WatchedRoute,
    connections,
    trip_of,
)
from phonesim.contents.everyday.money import Account, can_pay, money, pay
from phonesim.contents.timestamps import clock
from phonesim.drawing.colors import Color
from phonesim.languages.language import Language
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
STOPS = ("direct", "1 stop", "2 stops")
COLORS: dict[Means, Color] = {"rail": (40, 130, 120), "road": (196, 120, 40), "air": (70, 100, 200)}
ICONS: dict[Means, str] = {"rail": "train", "road": "bus", "air": "airplane"}


def found(ui: Ui, origin: str, destination: str, day: str) -> tuple[Connection, ...]:
    """Return the connections of that day; none between a city and itself."""
    seed = ui.facts.one(TravelSettings).seed
    return connections(seed, origin, destination, date.fromisoformat(day))


def icon_of(each: Connection | Trip) -> str:
    """Return the icon of a connection's means: train, bus or aeroplane."""
    return ICONS[MEANS_OF.get(each.operator, "rail")]


def times(each: Connection | Trip, in_24: bool, language: Language | None = None) -> str:
    """Return the label of a connection: departure and arrival."""
    return f"{clock(each.depart, in_24, language)} – {clock(each.arrive, in_24, language)}"


def results(ui: Ui, origin: str, destination: str, day: str) -> Window:
    order, in_24 = ui.text("order", "Earliest"), ui.settings.use_24_hour
    shown = sorted(
        enumerate(found(ui, origin, destination, day)), key=lambda p: ORDERS[order](p[1])
    )
    rows: list[Widget] = [
        AgendaRow(
            money(each.cents, ui.language),
            clock(each.depart, in_24, ui.language),
            clock(each.arrive, in_24, ui.language),
            f"{each.operator}, {duration_words(each.minutes, ui.language)}, {_stops(ui, each)}",
            COLORS[MEANS_OF.get(each.operator, "rail")],
            on_tap=partial(ui.go, "connection", origin, destination, day, number),
        )
        for number, each in shown
    ]
    watch = IconButton("eye", ui.tr("Watch this route"), partial(_watch, ui, origin, destination))
    return ui.page(
        f"{origin} – {destination}",
        rows or [Empty(ui.tr("Nothing runs on that day"), "train")],
        head=Pad(
            Row(
                [
                    Text(day_words(date.fromisoformat(day), ui.language), "small", "muted"),
                    Button(
                        ui.tr(order), lambda: ui.go("sort", order), "soft", icon="sort", high=34
                    ),
                ],
                stretch=0,
            ),
            sides=14,
            top=6,
            bottom=6,
        ),
        actions=[
            watch,
            IconButton(
                "list", ui.tr("Compare"), lambda: ui.go("compare", origin, destination, day)
            ),
        ],
    )


def _stops(ui: Ui, each: Connection) -> str:
    return ui.tr(STOPS[each.stops])


def _watch(ui: Ui, origin: str, destination: str) -> None:
    known = ui.facts.find(
        WatchedRoute, lambda r: (r.origin, r.destination) == (origin, destination)
    )
    if known is None:
        ui.facts.add(WatchedRoute(origin=origin, destination=destination))
    ui.say(ui.tr("We watch the prices"))


def sort(ui: Ui, chosen: str) -> Window:
    choices = {ui.tr(order): partial(ui.set, "order", order) for order in ORDERS}
    return ui.sheet(ui.tr("Sort by"), choices, chosen=ui.tr(chosen))


def compare(ui: Ui, origin: str, destination: str, day: str) -> Window:
    """The cheapest and the fastest connection, side by side."""
    shown = found(ui, origin, destination, day)
    if not shown:
        return ui.page(ui.tr("Compare"), [Empty(ui.tr("Nothing to compare"), "train")])
    columns: list[Widget] = []
    for title in ("Cheapest", "Fastest"):
        best = min(shown, key=ORDERS[title])
        lines: list[Widget] = [
            Text(ui.tr(title), "strong", "primary"),
            Text(money(best.cents, ui.language), "title"),
            Text(times(best, ui.settings.use_24_hour, ui.language), "small"),
            Text(duration_words(best.minutes, ui.language), "small"),
            Text(_stops(ui, best), "small", "muted"),
            Text(best.operator, "small", "muted"),
        ]
        go = partial(ui.go, "connection", origin, destination, day, shown.index(best))
        columns.append(Card(Column(lines, gap=8), ui.tr(f"{title} connection"), on_tap=go))
    heading = Pad(Text(f"{origin} – {destination}", "title"))
    return ui.page(ui.tr("Compare"), [heading, Pad(Grid(columns, 2, 10), sides=12)])


def connection(ui: Ui, origin: str, destination: str, day: str, number: int) -> Window:
    each, in_24 = found(ui, origin, destination, day)[number], ui.settings.use_24_hour
    leaves, arrives = (clock(when, in_24, ui.language) for when in (each.depart, each.arrive))
    return ui.page(
        ui.tr("Connection"),
        [
            Pad(Text(day_words(each.depart.date(), ui.language, year=True), "body", "primary")),
            ListRow(origin, ui.tr("Departure"), trailing=leaves, icon="location"),
            ListRow(
                f"{duration_words(each.minutes, ui.language)}, {_stops(ui, each)}",
                each.operator,
                icon=icon_of(each),
            ),
            ListRow(destination, ui.tr("Arrival"), trailing=arrives, icon="flag"),
            Pad(Text(money(each.cents, ui.language), "headline"), top=14, bottom=2),
            Pad(Text(ui.tr("Can be changed and cancelled"), "small", "muted"), top=0),
        ],
        foot=Pad(
            Button(
                ui.tr("Book"),
                lambda: ui.go("checkout", origin, destination, day, number),
                icon="card",
            )
        ),
    )


def checkout(ui: Ui, origin: str, destination: str, day: str, number: int) -> Window:
    each = found(ui, origin, destination, day)[number]
    traveller, cost = ui.text("traveller", "Me"), money(each.cents, ui.language)
    balance = money(ui.facts.one(Account).balance_cents, ui.language)

    def confirm() -> None:
        if not can_pay(ui.facts, each.cents):
            ui.go("not_paid", each.cents)
            return
        pay(ui.facts, each.operator, each.cents, f"Ticket to {destination}", ui.now)
        trip = ui.facts.add(trip_of(each, ui.facts.one(TravelSettings), traveller))
        ui.back(3)
        ui.go("booked", trip.id)

    return ui.page(
        ui.tr("Check and pay"),
        [
            ListRow(
                f"{origin} – {destination}",
                times(each, ui.settings.use_24_hour, ui.language),
                icon=icon_of(each),
            ),
            ListRow(ui.tr("Day"), day_words(each.depart.date(), ui.language), icon="calendar"),
            ListRow(
                ui.tr("Traveller"),
                ui.tr(traveller),
                icon="user",
                on_tap=lambda: ui.go("choose_traveller", traveller),
            ),
            ListRow(
                ui.tr("Paid from"),
                ui.tr("Wallet, {amount}", amount=balance),
                icon="wallet",
            ),
            Pad(Row([Text(ui.tr("Total"), "title"), Text(cost, "title")], stretch=0), top=14),
        ],
        foot=Pad(Button(ui.tr("Pay {amount}", amount=cost), confirm)),
    )


def choose_traveller(ui: Ui, chosen: str) -> Window:
    people = [person.name for person in ui.facts.all(Traveller)]
    choices = {ui.tr(name): partial(ui.set, "traveller", name) for name in people}
    return ui.sheet(ui.tr("Who travels?"), choices, chosen=ui.tr(chosen))


def booked(ui: Ui, trip_id: int) -> Window:
    trip = ui.facts.get(Trip, trip_id)
    return ui.page(
        ui.tr("Booked"),
        [
            Pad(Icon("check_circle", 72, "primary"), top=32),
            Pad(Text(ui.tr("Have a good trip!"), "headline", align="centre")),
            Pad(Text(f"{trip.origin} – {trip.destination}", "body", align="centre")),
            Pad(
                Text(
                    ui.tr("Booking code {code}", code=trip.code), "title", "primary", align="centre"
                )
            ),
        ],
        foot=Pad(Button(ui.tr("Show trip"), lambda: ui.swap("trip", trip_id), "soft")),
    )


def not_paid(ui: Ui, cents: int) -> Window:
    """An error page: the account's balance is too low."""
    amount = money(cents, ui.language)
    lacking = ui.tr("Your wallet does not hold {amount}.", amount=amount)
    return ui.page(
        ui.tr("Not booked"),
        [
            Pad(Icon("error", 72, "danger"), top=32),
            Pad(Text(ui.tr("The payment was declined"), "title", align="centre")),
            Pad(Text(lacking, "body", align="centre")),
        ],
        foot=Pad(Button(ui.tr("Open Wallet"), lambda: ui.launch("Wallet"), "soft")),
    )
