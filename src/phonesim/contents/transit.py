"""The trams of Fennbrook: lines, their stations, and the fastest route between two of them.

Lines and running times are the same on every phone; when a line starts and how often it runs are
facts of the phone (`TransitLine`).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from phonesim.contents.places import METRES, SPOT_OF

TRAM_PER_MINUTE = 320  # metres
STOP_MINUTES = 1
CHANGE_MINUTES = 4
LAST_MINUTE = 24 * 60
Color = tuple[int, int, int]

ROUTES: dict[str, tuple[str, ...]] = {
    "Line 1": (
        "Brewer Street Station", "Central Station", "Linden Station", "Meadow Station",
    ),
    "Line 2": (
        "Abbey Station", "Orchard Station", "Central Station", "Harbour Station",
        "Foundry Station",
    ),
    "Line 3": (
        "Chestnut Station", "Mill Station", "Central Station", "Quarry Station", "Heron Station",
    ),
    "Line 4": (
        "Meadow Station", "Chestnut Station", "Linden Station", "Harbour Station",
        "Quarry Station",
    ),
    "Line 5": (
        "Brewer Street Station", "Abbey Station", "Mill Station", "Linden Station",
        "Foundry Station",
    ),
}  # fmt: skip
COLORS: dict[str, Color] = {
    "Line 1": (211, 61, 61),
    "Line 2": (52, 120, 214),
    "Line 3": (56, 150, 82),
    "Line 4": (214, 140, 40),
    "Line 5": (140, 84, 190),
}


@dataclass(frozen=True, slots=True)
class TransitLine:
    """A line's timetable: from `first` on, a tram leaves both ends every `every` minutes."""

    id: int = 0
    name: str = ""
    first: int = 300  # minutes after midnight
    every: int = 12  # minutes


class Ride(NamedTuple):
    """A part of a route on one line: from, to, number of stops, duration."""

    line: str
    start: str
    end: str
    stops: int
    minutes: int


def metres_between(start: tuple[int, int], end: tuple[int, int]) -> int:
    """Return the distance along avenues and streets."""
    return (abs(start[0] - end[0]) + abs(start[1] - end[1])) * METRES


@cache
def minutes_between(first: str, second: str) -> int:
    """Return the time from one station to a neighbour on a line, including the stop."""
    way = metres_between(SPOT_OF[first].point, SPOT_OF[second].point)
    return round(way / TRAM_PER_MINUTE) + STOP_MINUTES


def lines_at(station: str) -> list[str]:
    return [line for line, stations in ROUTES.items() if station in stations]


def ends_of(line: str) -> tuple[str, str]:
    return ROUTES[line][0], ROUTES[line][-1]


def offset(line: str, station: str, towards: str) -> int:
    """Return the minutes from the start of the line to the station, in the direction `towards`."""
    stations = ROUTES[line] if towards == ROUTES[line][-1] else ROUTES[line][::-1]
    passed = stations[: stations.index(station) + 1]
    return sum(map(minutes_between, passed, passed[1:]))


def departures(line: TransitLine, station: str, towards: str, now: datetime) -> list[str]:
    """Return the next three departures as clock times, continuing with tomorrow's first."""
    first = line.first + offset(line.name, station, towards)
    today = range(first, LAST_MINUTE, line.every)
    minute = now.hour * 60 + now.minute
    coming = [at for at in today if at >= minute][:3]
    coming += list(today[: 3 - len(coming)])
    return [f"{at // 60:02d}:{at % 60:02d}" for at in coming]


def next_departures(
    line: TransitLine, station: str, towards: str, start: datetime, end: datetime
) -> set[str]:
    """Return every time that was the next departure at some moment in [start, end]."""
    minutes = int((end - start).total_seconds() // 60) + 1
    times = [start + timedelta(minutes=gone) for gone in range(minutes)] + [end]
    return {departures(line, station, towards, at)[0] for at in times}


@lru_cache(maxsize=1024)
def rides(start: str, end: str) -> tuple[Ride, ...]:
    """Return the fastest route between two stations."""
    queue: list[tuple[int, str, str, tuple[Ride, ...]]] = [(0, start, "", ())]
    seen: set[tuple[str, str]] = set()
    while queue:
        minutes, station, on, way = heapq.heappop(queue)
        if station == end:
            return way
        if (station, on) in seen:
            continue
        seen.add((station, on))
        for line in lines_at(station):
            change = CHANGE_MINUTES if line != on and on else 0
            for neighbour in _neighbours(line, station):
                long = minutes_between(station, neighbour)
                longer = _extend(way, line, station, neighbour, long)
                heapq.heappush(queue, (minutes + change + long, neighbour, line, longer))
    return ()


def _neighbours(line: str, station: str) -> list[str]:
    stations = ROUTES[line]
    at = stations.index(station)
    return [stations[i] for i in (at - 1, at + 1) if 0 <= i < len(stations)]


def _extend(
    way: tuple[Ride, ...], line: str, start: str, end: str, minutes: int
) -> tuple[Ride, ...]:
    if way and way[-1].line == line:
        last = way[-1]
        longer = Ride(line, last.start, end, last.stops + 1, last.minutes + minutes)
        return (*way[:-1], longer)
    return (*way, Ride(line, start, end, 1, minutes))
