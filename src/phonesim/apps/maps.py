"""Maps: the town of Fennbrook with its places, directions and trams."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.apps.town import TownMap
from phonesim.contents.directions import (
    MODE_ICONS,
    MODES,
    Point,
    Way,
    distance_in_words,
    find_way,
)
from phonesim.contents.gazetteer import (
    Navigation,
    Place,
    RecentSearch,
    SavedPlace,
    Whereabouts,
    furnish_town,
)
from phonesim.contents.places import KINDS
from phonesim.contents.transit import (
    ROUTES,
    TransitLine,
    departures,
    ends_of,
    lines_at,
    metres_between,
)
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Column, Flow, Pad, Row
from phonesim.toolkit.controls import Button, Chip
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Text
from phonesim.toolkit.widget import Widget

TABS = ("Explore", "Saved", "Transit")
TAB_ICONS = ("map", "star", "train")
HERE = "Your location"
MAX_RECENT = 4
MAX_RESULTS = 30
MEANS = {"Car": "by car", "Transit": "by transit", "Walk": "on foot", "Bike": "by bike"}


class MapsApp(App):
    """A map to explore, saved places, trams."""

    name = "Maps"
    icon = "map"
    color = (52, 150, 92)
    kinds = (Place, SavedPlace, Navigation, Whereabouts, RecentSearch, TransitLine)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_town(facts, rng)

    # The first page ----------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        tab = ui.tab(*TABS)
        parts = {"Explore": self._explore, "Saved": self._saved, "Transit": self._transit}
        search = Pad(ui.field("query", "Search places", icon="search"), sides=12, top=6, bottom=4)
        searching = tab == "Explore" and ui.text("query").strip()
        return ui.page(
            "Maps",
            _results(ui, ui.text("query"), _visiting(ui)) if searching else parts[tab](ui),
            tabs=ui.tabs(*TABS, icons=() if ui.version == 3 else TAB_ICONS),
            head=search if tab == "Explore" else None,
        )

    def _explore(self, ui: Ui) -> list[Widget]:
        here = ui.facts.one(Whereabouts)
        centre = ui.get("centre") or (here.x, here.y)
        by_name = {place.name: place for place in ui.facts.all(Place)}

        def opening(name: str) -> Handler:
            return lambda: _visiting(ui)(by_name[name])

        town = TownMap(
            centre,
            high=400,
            here=(here.x, here.y),
            on_move=lambda point: ui.set("centre", point),
            on_spot=opening,
            zoom=int(ui.get("zoom", 1)),
            on_zoom=lambda zoom: ui.set("zoom", zoom),
        )
        chips = [Chip(several, _to_kind(ui, kind)) for kind, (several, _) in KINDS.items()]
        body: list[Widget] = [Pad(Flow(chips, gap=6), sides=12, top=2), town]
        recent = ui.facts.all(RecentSearch)[: -MAX_RECENT - 1 : -1]
        if recent:
            body.append(Heading("Recent"))
            body += [_place_row(ui, ui.facts.get(Place, r.place), "history") for r in recent]
        return body

    def _saved(self, ui: Ui) -> list[Widget]:
        places = [ui.facts.get(Place, saved.place) for saved in ui.facts.all(SavedPlace)]
        rows: list[Widget] = [_place_row(ui, place, "star_filled") for place in places]
        return rows or [Empty("No saved places yet", "star")]

    def _transit(self, ui: Ui) -> list[Widget]:
        rows = []
        for line in ui.facts.all(TransitLine):
            first, last = ends_of(line.name)
            rows.append(
                ListRow(
                    line.name,
                    f"{first} – {last}",
                    trailing=f"every {line.every} min",
                    icon="train",
                    on_tap=_to_line(ui, line.name),
                )
            )
        return [Heading("Tram lines"), *rows]

    def kind(self, ui: Ui, kind: str) -> Window:
        places = ui.facts.where(Place, lambda p: p.kind == kind)
        several, icon = KINDS[kind]
        rows = [_place_row(ui, place, icon) for place in sorted(places, key=lambda p: p.name)]
        return ui.page(several, rows)

    def line(self, ui: Ui, name: str) -> Window:
        by_name = {place.name: place for place in ui.facts.all(Place)}
        rows = [
            ListRow(
                station,
                " · ".join(other for other in lines_at(station) if other != name),
                icon="train",
                on_tap=_to_place(ui, by_name[station].id),
            )
            for station in ROUTES[name]
        ]
        return ui.page(name, [Heading("Stations"), *rows])

    # A place -----------------------------------------------------------------------------------

    def place(self, ui: Ui, place_id: int) -> Window:
        place, here = ui.facts.get(Place, place_id), ui.facts.one(Whereabouts)
        saved = ui.facts.find(SavedPlace, lambda s: s.place == place_id)

        def toggle() -> None:
            if saved:
                ui.facts.remove(saved)
            else:
                ui.facts.add(SavedPlace(place=place_id))
            ui.say("Removed from saved places" if saved else "Saved")

        way = Button(
            "Directions",
            lambda: ui.go("directions", origin=0, destination=place_id),
            icon="directions",
        )
        keep = Button(
            "Saved" if saved else "Save", toggle, "soft", "star_filled" if saved else "star"
        )
        far = distance_in_words(metres_between((here.x, here.y), (place.x, place.y)))
        town = TownMap((place.x, place.y), high=150, pins=[(place.x, place.y)])
        title = Column(
            [
                Text(place.name, "headline", max_lines=2),
                Row([Icon("star_filled", 16, (230, 160, 30)), Text(f"{place.rating:.1f}", "strong"),
                     Text(f"{place.kind} · {far} away", "small", "muted", 1)], gap=6),
            ],
            gap=4,
        )  # fmt: skip
        buttons = Pad(Row([way, keep], align="spread"), top=4)
        parts = [Pad(title, bottom=4), buttons]
        body: list[Widget] = [*parts, town] if ui.version == 2 else [town, *parts]
        return ui.page(place.kind, [*body, *_particulars(place), *self._departures(ui, place)])

    def _departures(self, ui: Ui, place: Place) -> list[Widget]:
        if place.kind != "Station":
            return []
        rows: list[Widget] = [Heading("Departures")]
        for line in ui.facts.all(TransitLine):
            ends = ends_of(line.name) if line.name in lines_at(place.name) else ()
            for end in ends:
                if end != place.name:
                    first, *later = departures(line, place.name, end, ui.now)
                    then = f"then {', '.join(later)}"
                    rows.append(
                        ListRow(f"{line.name} to {end}", then, trailing=first, icon="train")
                    )
        return rows

    # Directions --------------------------------------------------------------------------------

    def directions(self, ui: Ui) -> Window:
        here = ui.facts.one(Whereabouts)
        origin, goal = int(ui.get("origin", 0)), int(ui.get("destination", 0))
        start = ui.facts.get(Place, origin) if origin else None
        end = ui.facts.get(Place, goal)
        mode = ui.tab(*MODES, key="mode")
        begin = (start.x, start.y) if start else (here.x, here.y)
        way = find_way(begin, (end.x, end.y), mode, end.name)

        def go() -> None:
            ui.facts.change(Navigation, active=True, origin=origin, destination=goal, mode=mode)
            ui.go("guide")

        town = _way_map(begin, (end.x, end.y), way)
        words = Column(
            [
                Text(f"{way.minutes} min", "headline"),
                Text(f"{distance_in_words(way.metres)} {MEANS[mode]}", "small", "muted"),
            ]
        )
        ends = [
            ListRow(
                "From", start.name if start else HERE, icon="target", on_tap=_ask(ui, "origin")
            ),
            ListRow("To", end.name, icon="location", on_tap=_ask(ui, "destination")),
        ]
        total = Pad(Row([words, Button("Start", go, icon="directions")], stretch=0))
        steps = [ListRow(step.text, step.detail, icon=step.icon) for step in way.steps]
        return ui.page(
            "Directions",
            [*ends, total, town, Heading("Steps"), *steps],
            tabs=ui.tabs(*MODES, key="mode", icons=MODE_ICONS if ui.version == 2 else ()),
        )

    def choose(self, ui: Ui, key: str) -> Window:
        """Choose the start or the end of a route."""

        def pick(place: Place) -> None:
            ui.back()
            ui.set(key, place.id)

        def stay() -> None:
            ui.back()
            ui.set(key, 0)

        first = [ListRow(HERE, icon="target", on_tap=stay)] if key == "origin" else []
        return ui.page(
            "Choose start" if key == "origin" else "Choose destination",
            [*first, *_results(ui, ui.text("query"), pick)],
            head=Pad(ui.field("query", "Search places", icon="search"), sides=12, top=4, bottom=4),
        )

    def guide(self, ui: Ui) -> Window:
        trip, here = ui.facts.one(Navigation), ui.facts.one(Whereabouts)
        start = ui.facts.get(Place, trip.origin) if trip.origin else here
        end = ui.facts.get(Place, trip.destination)
        way = find_way((start.x, start.y), (end.x, end.y), trip.mode, end.name)

        def stop() -> None:
            ui.facts.change(Navigation, active=False)
            ui.back()

        first = way.steps[0]
        town = TownMap((start.x, start.y), 330, [(end.x, end.y)], way.line, (start.x, start.y))
        return ui.page(
            f"To {end.name}",
            [
                ListRow(first.text, first.detail, icon=first.icon, bold=True),
                town,
                Pad(Text(f"{way.minutes} min {MEANS[trip.mode]}", "title")),
                Pad(Button("Stop", stop, "soft", "stop")),
            ],
        )


def _visiting(ui: Ui) -> Callable[[Place], None]:
    """Return a handler that opens a found place and adds it to the recent searches."""

    def visit(place: Place) -> None:
        ui.facts.remove_where(RecentSearch, lambda r: r.place == place.id)
        ui.facts.add(RecentSearch(place=place.id))
        ui.go("place", place.id)

    return visit


def _to_place(ui: Ui, place_id: int) -> Handler:
    return lambda: ui.go("place", place_id)


def _to_kind(ui: Ui, kind: str) -> Handler:
    return lambda: ui.go("kind", kind)


def _to_line(ui: Ui, name: str) -> Handler:
    return lambda: ui.go("line", name)


def _ask(ui: Ui, key: str) -> Handler:
    return lambda: ui.go("choose", key)


def _place_row(ui: Ui, place: Place, icon: str) -> ListRow:
    return ListRow(
        place.name,
        f"{place.kind} · {place.address}",
        trailing=f"{place.rating:.1f}",
        icon=icon,
        on_tap=_to_place(ui, place.id),
        detail_lines=1,
    )


def _way_map(start: Point, end: Point, way: Way) -> TownMap:
    """Return a map with both ends of a route if they fit, zoomed out if needed; else its end."""
    across, down = abs(start[0] - end[0]), abs(start[1] - end[1])
    zoom = 1 if across < 300 and down < 140 else 2
    fits = across < 600 and down < 300
    middle = (start[0] + end[0]) // 2, (start[1] + end[1]) // 2
    return TownMap(middle if fits else end, 200, [end], way.line, start, zoom=zoom)


def _results(ui: Ui, query: str, pick: Callable[[Place], None]) -> list[Widget]:
    wanted = query.casefold().strip()

    def picking(place: Place) -> Handler:
        return lambda: pick(place)

    found = ui.facts.where(Place, lambda p: wanted in f"{p.name} {p.kind}".casefold())
    rows: list[Widget] = [
        ListRow(
            place.name,
            f"{place.kind} · {place.address}",
            icon=KINDS[place.kind][1],
            on_tap=picking(place),
            detail_lines=1,
        )
        for place in found[:MAX_RESULTS]
    ]
    return rows or [Empty("No such place", "search")]


def _particulars(place: Place) -> list[Widget]:
    return [
        ListRow(place.address, "Address", icon="location"),
        ListRow(place.hours, "Opening hours", icon="clock"),
        ListRow(place.phone, "Telephone", icon="phone"),
    ]
