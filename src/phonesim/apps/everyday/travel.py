"""Travel: search, compare and book journeys between cities; change or cancel booked trips.

Tickets are paid from the wallet's account; a booked trip can be added to Wallet and Calendar.
"""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.apps.everyday import travel_booking, travel_trips
from phonesim.apps.everyday.switches import switch_rows
from phonesim.contents.everyday.journeys import (
    AISLE,
    CITY_NAMES,
    WINDOW,
    Traveller,
    TravelSettings,
    Trip,
    WatchedRoute,
    connections,
    furnish_journeys,
)
from phonesim.contents.everyday.money import money
from phonesim.contents.everyday.news import TripNews
from phonesim.facts import Facts
from phonesim.toolkit.boxes import Card, Column, Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.month import MonthGrid, day_words, month_bar, month_of
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Picture, Text
from phonesim.toolkit.widget import Widget

SWITCHES = {
    "delay_alerts": "Delay alerts",
    "price_alerts": "Price alerts",
    "quiet_coach": "Prefer quiet coaches",
    "green_first": "Greenest first",
    "newsletter": "Newsletter",
}
OFFERS = {  # offer -> key of its picture
    "Weekend by the sea": "photo:beach offer",
    "Night trains": "photo:night offer",
    "Three cities, one ticket": "photo:city offer",
    "Mountains in a day": "photo:mountain offer",
}
QUESTIONS = {
    "How do I change a trip?": "Open it under My trips and tap Change. You pay the difference.",
    "What does it cost to cancel?": "Five dollars. The rest goes back to your account.",
    "Where is my ticket?": "Open the trip and tap Add to Wallet. The code is all you need.",
}


class TravelApp(App):
    """A search form, and the next trip below it."""

    name = "Travel"
    icon = "train"
    color = (24, 122, 128)
    preinstalled = False
    kinds = (Trip, Traveller, WatchedRoute, TravelSettings, TripNews)

    network_pages = frozenset(
        ("results", "connection", "compare", "checkout", "change", "confirm_change",
         "confirm_cancel", "seats", "offers")
    )  # fmt: skip

    results = staticmethod(travel_booking.results)
    sort = staticmethod(travel_booking.sort)
    connection = staticmethod(travel_booking.connection)
    compare = staticmethod(travel_booking.compare)
    checkout = staticmethod(travel_booking.checkout)
    choose_traveller = staticmethod(travel_booking.choose_traveller)
    booked = staticmethod(travel_booking.booked)
    not_paid = staticmethod(travel_booking.not_paid)
    trips = staticmethod(travel_trips.trips)
    trip = staticmethod(travel_trips.trip)
    change = staticmethod(travel_trips.change)
    confirm_change = staticmethod(travel_trips.confirm_change)
    confirm_cancel = staticmethod(travel_trips.confirm_cancel)
    seats = staticmethod(travel_trips.seats)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_journeys(facts, rng, now)

    def home(self, ui: Ui) -> Window:
        origin, day = _origin(ui), _day(ui)
        form = Column(
            [
                ListRow(
                    ui.tr("From"), origin, icon="location", on_tap=lambda: ui.go("choose_city")
                ),
                Pad(
                    ui.field("to", ui.tr("To"), icon="flag", on_submit=partial(_search, ui)), top=2
                ),
                ListRow(
                    ui.tr("Day"),
                    day_words(day, ui.language),
                    icon="calendar",
                    on_tap=lambda: ui.go("choose_day", day.isoformat()),
                ),
                Pad(Button(ui.tr("Search trips"), partial(_search, ui), icon="search"), top=6),
            ]
        )
        return ui.page(
            ui.tr("Travel"),
            [form, *self._next_trip(ui)],
            actions=[
                IconButton("ticket", ui.tr("My trips"), lambda: ui.go("trips")),
                IconButton("more", ui.tr("More options"), lambda: ui.go("options")),
            ],
        )

    def _next_trip(self, ui: Ui) -> list[Widget]:
        coming = [t for t in ui.facts.all(Trip) if not t.cancelled and t.depart > ui.now]
        if not coming:
            return [Empty(ui.tr("No trips planned"), "train")]
        trip = min(coming, key=lambda trip: (trip.depart, trip.id))
        words = Column(
            [
                Text(f"{trip.origin} – {trip.destination}", "strong"),
                Text(
                    f"{day_words(trip.depart.date(), ui.language)}, {trip.operator}",
                    "small",
                    "muted",
                ),
            ],
            gap=4,
        )
        card = Card(
            Row([Icon(travel_booking.icon_of(trip), 28, "primary"), words], gap=14),
            ui.tr("Next trip"),
        )
        card.on_tap = partial(ui.go, "trip", trip.id)
        return [Heading(ui.tr("Your next trip")), Pad(card, sides=12, top=4)]

    def options(self, ui: Ui) -> Window:
        pages = {
            "Watched routes": "watched", "Offers": "offers", "Travellers": "travellers",
            "Travel settings": "settings", "Help": "help",
        }  # fmt: skip
        return ui.menu({ui.tr(label): partial(ui.go, page) for label, page in pages.items()})

    def choose_city(self, ui: Ui) -> Window:
        query = ui.text("query").strip().casefold()

        def choose(city: str) -> None:
            ui.back()
            ui.set("origin", city)

        rows = [
            ListRow(city, icon="location", on_tap=partial(choose, city))
            for city in CITY_NAMES
            if query in city.casefold()
        ]
        return ui.page(
            ui.tr("Leave from"),
            rows or [Empty(ui.tr("No such city"), "search")],
            head=Pad(
                ui.field("query", ui.tr("Search city"), icon="search"), sides=12, top=6, bottom=4
            ),
        )

    def choose_day(self, ui: Ui, chosen: str) -> Window:
        day = date.fromisoformat(chosen)
        month = date.fromisoformat(ui.text("month", month_of(day).isoformat()))

        def choose(picked: date) -> None:
            if picked < ui.now.date():
                ui.say(ui.tr("That day is over"))
                return
            ui.back()
            ui.set("day", picked.isoformat())

        def turn(to: date) -> None:
            ui.set("month", to.isoformat())

        bar = month_bar(month, turn, lambda: turn(month_of(ui.now.date())), ui.language)
        grid = MonthGrid(month, ui.now.date(), choose, chosen=day)
        return ui.page(ui.tr("Which day?"), [Pad(bar, sides=8), Pad(grid, sides=12)])

    def unknown_city(self, ui: Ui, typed: str) -> Window:
        """An error page: there are no connections to that city."""
        lost = ui.tr("We do not travel to “{name}”.", name=typed[:40])
        near = [city for city in CITY_NAMES if city[:1].casefold() == typed[:1].casefold()]
        rows = [ListRow(c, icon="location", on_tap=partial(_take, ui, c)) for c in near]
        return ui.page(
            ui.tr("Not found"),
            [
                Pad(Icon("map", 64, "muted"), top=24),
                Pad(Text(lost, "body", align="centre")),
                Heading(ui.tr("Did you mean")),
                *rows,
            ],
        )

    # Watched routes, offers, travellers, settings -----------------------------------------------

    def watched(self, ui: Ui) -> Window:
        settings, day = ui.facts.one(TravelSettings), ui.now.date() + timedelta(days=7)
        rows = []
        for route in ui.facts.all(WatchedRoute):
            found = connections(settings.seed, route.origin, route.destination, day)
            least = min((each.cents for each in found), default=0)
            label = f"{route.origin} – {route.destination}"
            end = ui.tr("Stop watching {name}", name=label)
            stop = ("close", end, partial(ui.facts.remove, route))
            price = ui.tr("In a week from {amount}", amount=money(least, ui.language))
            row = ListRow(label, price, icon="eye", button=stop)
            rows.append(row)
        return ui.page(ui.tr("Watched routes"), rows or [Empty(ui.tr("No routes watched"), "eye")])

    def offers(self, ui: Ui) -> Window:
        cards: list[Widget] = [
            Pad(
                Card(
                    Column([Picture(picture, high=96), Text(ui.tr(name), "strong")], gap=8),
                    ui.tr(name),
                    on_tap=partial(ui.go, "offer", name),
                ),
                sides=12,
                top=5,
                bottom=5,
            )
            for name, picture in OFFERS.items()
        ]
        return ui.page(ui.tr("Offers"), cards)

    def offer(self, ui: Ui, name: str) -> Window:
        text = ui.tr(
            "Until the end of the month, on all days but Fridays. Two bags travel for free."
        )
        return ui.page(ui.tr(name), [Picture(OFFERS[name], high=170), Pad(Text(text))])

    def travellers(self, ui: Ui) -> Window:
        rows = [
            ListRow(
                ui.tr(person.name),
                ui.tr("Discount card") if person.discount_card else ui.tr("Full fare"),
                avatar=person.name,
                on_tap=partial(ui.go, "traveller", person.id, name=person.name),
            )
            for person in ui.facts.all(Traveller)
        ]
        add = ("user_add", ui.tr("Add traveller"), lambda: ui.go("traveller", 0))
        return ui.page(ui.tr("Travellers"), rows or [Empty(ui.tr("Nobody"), "users")], primary=add)

    def traveller(self, ui: Ui, person_id: int) -> Window:
        known = ui.facts.get(Traveller, person_id) if person_id else Traveller()
        card = bool(ui.get("card", known.discount_card))

        def save() -> None:
            name = ui.text("name").strip()
            if not name:
                ui.say(ui.tr("Everybody has a name"))
                return
            if person_id:
                ui.facts.edit(known, name=name, discount_card=card)
            else:
                ui.facts.add(Traveller(name=name, discount_card=card))
            ui.back()

        return ui.page(
            ui.tr("Traveller"),
            [
                Pad(ui.field("name", ui.tr("Full name"), icon="user")),
                ListRow(
                    ui.tr("Discount card"), switch=card, on_tap=partial(ui.set, "card", not card)
                ),
            ],
            actions=[IconButton("check", ui.tr("Save"), save)],
        )

    def settings(self, ui: Ui) -> Window:
        settings = ui.facts.one(TravelSettings)
        return ui.page(
            ui.tr("Travel settings"),
            [
                ListRow(ui.tr("Home city"), settings.home_city, icon="home"),
                ListRow(
                    ui.tr("Seat"),
                    ui.tr(settings.seat),
                    icon="bed",
                    on_tap=lambda: ui.go("seat_choice"),
                ),
                *switch_rows(ui, TravelSettings, SWITCHES),
            ],
        )

    def seat_choice(self, ui: Ui) -> Window:
        choices = {
            ui.tr(seat): partial(ui.facts.change, TravelSettings, seat=seat)
            for seat in (WINDOW, AISLE)
        }
        return ui.sheet(ui.tr("Seat"), choices, chosen=ui.tr(ui.facts.one(TravelSettings).seat))

    def help(self, ui: Ui) -> Window:
        shown: list[Widget] = []
        for question, answer in QUESTIONS.items():
            shown += [Heading(ui.tr(question)), Pad(Text(ui.tr(answer), "body", "muted"), top=0)]
        return ui.page(ui.tr("Help"), shown)


def _origin(ui: Ui) -> str:
    return ui.text("origin", ui.facts.one(TravelSettings).home_city)


def _day(ui: Ui) -> date:
    tomorrow = ui.now.date() + timedelta(days=1)
    return date.fromisoformat(ui.text("day", tomorrow.isoformat()))


def _search(ui: Ui) -> None:
    typed = ui.text("to").strip()
    city = next((name for name in CITY_NAMES if name.casefold() == typed.casefold()), None)
    if not typed:
        ui.say(ui.tr("Where to?"))
    elif city is None:
        ui.go("unknown_city", typed[:60])
    else:
        ui.go("results", _origin(ui), city, _day(ui).isoformat())


def _take(ui: Ui, city: str) -> None:
    ui.back()
    ui.set("to", city)
