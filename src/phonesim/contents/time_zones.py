"""Cities of the world and their offsets from universal time.

Offsets are those of winter all year: there is no daylight saving time.
"""

from __future__ import annotations

from datetime import datetime, timedelta

TIME_ZONES: dict[str, tuple[str, float]] = {  # city: country, hours ahead of universal time
    "Accra": ("Ghana", 0), "Anchorage": ("United States", -9), "Athens": ("Greece", 2),
    "Auckland": ("New Zealand", 13), "Bangkok": ("Thailand", 7), "Berlin": ("Germany", 1),
    "Bogota": ("Colombia", -5), "Buenos Aires": ("Argentina", -3), "Cairo": ("Egypt", 2),
    "Cape Town": ("South Africa", 2), "Chicago": ("United States", -6),
    "Copenhagen": ("Denmark", 1), "Dakar": ("Senegal", 0), "Delhi": ("India", 5.5),
    "Denver": ("United States", -7), "Dhaka": ("Bangladesh", 6), "Dubai": ("Emirates", 4),
    "Dublin": ("Ireland", 0), "Hanoi": ("Vietnam", 7), "Helsinki": ("Finland", 2),
    "Honolulu": ("United States", -10), "Istanbul": ("Türkiye", 3), "Jakarta": ("Indonesia", 7),
    "Karachi": ("Pakistan", 5), "Kathmandu": ("Nepal", 5.75), "Lagos": ("Nigeria", 1),
    "Lima": ("Peru", -5), "Lisbon": ("Portugal", 0), "London": ("United Kingdom", 0),
    "Madrid": ("Spain", 1), "Manila": ("Philippines", 8), "Mexico City": ("Mexico", -6),
    "Montreal": ("Canada", -5), "Nairobi": ("Kenya", 3), "New York": ("United States", -5),
    "Oslo": ("Norway", 1), "Paris": ("France", 1), "Perth": ("Australia", 8),
    "Reykjavik": ("Iceland", 0), "Rome": ("Italy", 1), "San Francisco": ("United States", -8),
    "Santiago": ("Chile", -3), "Sao Paulo": ("Brazil", -3), "Seoul": ("South Korea", 9),
    "Shanghai": ("China", 8), "Singapore": ("Singapore", 8), "Sydney": ("Australia", 11),
    "Tokyo": ("Japan", 9), "Vancouver": ("Canada", -8), "Warsaw": ("Poland", 1),
}  # fmt: skip


def hours_ahead(city: str, home: str) -> float:
    """Return how far a city's clock is ahead of another's; negative if it is behind."""
    return TIME_ZONES[city][1] - TIME_ZONES[home][1]


def time_in(city: str, home: str, now: datetime) -> datetime:
    """Return the local time of a city when the home clock shows `now`."""
    return now + timedelta(hours=hours_ahead(city, home))


def difference_text(city: str, home: str) -> str:
    """Return the difference in words: "3 h ahead", "5 h 30 min ahead", "Same time"."""
    minutes = round(hours_ahead(city, home) * 60)
    if not minutes:
        return "Same time"
    hours, rest = divmod(abs(minutes), 60)
    parts = [f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest)
    return f"{' '.join(parts)} {'ahead' if minutes > 0 else 'behind'}"
