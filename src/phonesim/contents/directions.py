"""Routes between two points of the town: duration by each mode, turns, and the line on the map."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from phonesim.contents.places import AVENUES, SPOTS, STREETS, Spot
from phonesim.contents.transit import CHANGE_MINUTES, Ride, metres_between, rides

Point = tuple[int, int]
MODES = ("Car", "Transit", "Walk", "Bike")
MODE_ICONS = ("car", "train", "walk", "bike")
SPEEDS = {"Car": 420, "Walk": 80, "Bike": 240}  # metres a minute
PARKING_MINUTES = 3


class Step(NamedTuple):
    """One step of the directions."""

    icon: str
    text: str
    detail: str


class Way(NamedTuple):
    """A route: its duration, length, steps, and line on the map (always along streets)."""

    minutes: int
    metres: int
    steps: tuple[Step, ...]
    line: tuple[Point, ...]


@lru_cache(maxsize=1024)
def find_way(start: Point, end: Point, mode: str, goal: str) -> Way:
    """Return the route between two points; `goal` is the name of the place at its end."""
    if mode == "Transit":
        return _by_tram(start, end, goal)
    metres = metres_between(start, end)
    minutes = max(1, round(metres / SPEEDS[mode])) + (PARKING_MINUTES if mode == "Car" else 0)
    return Way(minutes, metres, _turns(start, end, goal), _corner(start, end))


def distance_in_words(metres: int) -> str:
    return f"{metres / 1000:.1f} km" if metres >= 1000 else f"{metres} m"


def _corner(start: Point, end: Point) -> tuple[Point, ...]:
    return start, (start[0], end[1]), end


def _nearest(names: dict[str, int], value: int) -> str:
    return min(names, key=lambda name: abs(names[name] - value))


def _turns(start: Point, end: Point, goal: str) -> tuple[Step, ...]:
    """Return the steps: first along the avenue, then along the street."""
    down, across = end[1] - start[1], end[0] - start[0]
    avenue, street = _nearest(AVENUES, start[0]), _nearest(STREETS, end[1])
    steps = []
    if down:
        heading = "south" if down > 0 else "north"
        length = distance_in_words(metres_between(start, (start[0], end[1])))
        steps.append(Step("up", f"Head {heading} on {avenue}", length))
    if across:
        side = "left" if (across > 0) == (down > 0) else "right"
        turn = f"Turn {side} onto {street}" if down else f"Follow {street}"
        length = distance_in_words(metres_between((start[0], end[1]), end))
        steps.append(Step("forward", turn, length))
    return (*steps, Step("location", f"Arrive at {goal}", ""))


def _by_tram(start: Point, end: Point, goal: str) -> Way:
    first, last = _nearest_station(start), _nearest_station(end)
    metres = metres_between(start, end)
    parts = rides(first.name, last.name)
    if not parts:
        minutes = max(1, round(metres / SPEEDS["Walk"]))
        return Way(minutes, metres, (_walk(goal, minutes),), _corner(start, end))
    there = round(metres_between(start, first.point) / SPEEDS["Walk"])
    onwards = round(metres_between(last.point, end) / SPEEDS["Walk"])
    steps = [_walk(first.name, there)] if there else []
    steps += [_ride(part) for part in parts]
    steps += [_walk(goal, onwards)] if onwards else []
    minutes = there + sum(p.minutes for p in parts) + (len(parts) - 1) * CHANGE_MINUTES + onwards
    stations = [start, first.point, *(_point(part.end) for part in parts), end]
    line = [point for a, b in pairwise(stations) for point in _corner(a, b)]
    return Way(max(1, minutes), metres, tuple(steps), tuple(line))


def _walk(goal: str, minutes: int) -> Step:
    return Step("walk", f"Walk to {goal}", f"{minutes} min")


def _ride(part: Ride) -> Step:
    stops = "1 stop" if part.stops == 1 else f"{part.stops} stops"
    return Step("train", f"{part.line} to {part.end}", f"{stops}, {part.minutes} min")


def _point(station: str) -> Point:
    return next(spot.point for spot in SPOTS if spot.name == station)


def _nearest_station(point: Point) -> Spot:
    stations = [spot for spot in SPOTS if spot.kind == "Station"]
    return min(stations, key=lambda spot: metres_between(spot.point, point))
