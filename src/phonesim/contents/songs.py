"""Invented albums of invented artists; each phone gets some of them."""

from __future__ import annotations

from typing import NamedTuple


class Album(NamedTuple):
    """An album; every title occurs on one album only."""

    name: str
    artist: str
    year: int
    tracks: tuple[tuple[str, int], ...]  # title, seconds


ALBUMS: tuple[Album, ...] = (
    Album("Harbour Lights", "Pale Lanterns", 2019, (
        ("Low Tide", 214), ("Paper Boats", 187), ("The Ferry Song", 243), ("Salt Air", 201),
        ("Last Buoy", 262),
    )),
    Album("Second Winter", "Pale Lanterns", 2023, (
        ("Frost on Wires", 198), ("Quiet Engines", 225), ("Snowblind", 176), ("Thaw", 309),
    )),
    Album("Maps of Nowhere", "Juniper Vale", 2018, (
        ("Crossroads Again", 232), ("Blue Atlas", 205), ("Gravel and Gold", 219),
        ("Home by Dark", 254), ("Wrong Turn", 171),
    )),
    Album("Kitchen Radio", "Juniper Vale", 2021, (
        ("Sunday Pancakes", 163), ("Kettle Waltz", 188), ("Slow Toast", 194), ("Tin Roof", 247),
    )),
    Album("Neon Orchard", "Cassette Youth", 2020, (
        ("Plastic Moon", 208), ("Arcade Heart", 192), ("Electric Pears", 226),
        ("Midnight Vending", 183), ("Chrome Petals", 270),
    )),
    Album("Night Bus", "Cassette Youth", 2024, (
        ("Route Nine", 179), ("Window Seat", 213), ("Empty Depot", 236), ("First Stop", 168),
    )),
    Album("Stone and Feather", "Mirela Osk", 2017, (
        ("Heavy Bird", 251), ("Cairn", 223), ("Light as Slate", 197), ("Nest", 184),
        ("The Long Ridge", 318),
    )),
    Album("Letters Unsent", "Mirela Osk", 2022, (
        ("Dear Anyone", 202), ("Postmark", 176), ("Ink Runs Out", 239), ("Return to Sender", 211),
    )),
    Album("Brass Weather", "The Tin Parade", 2016, (
        ("Marching Home", 189), ("Umbrella Band", 206), ("Thunder in C", 228),
        ("Puddle Jump", 157), ("Parade Is Over", 275),
    )),
    Album("Small Hours", "Idris Calloway", 2021, (
        ("Blue Porcelain", 296), ("Half Past Three", 264), ("Cigar Box", 217),
        ("Velvet Stairs", 241),
    )),
    Album("Garden State of Mind", "Fern and Fable", 2019, (
        ("Moss", 173), ("Dandelion Clock", 204), ("Slow Bees", 233), ("Rain Barrel", 195),
        ("Compost Dreams", 181),
    )),
    Album("Orbit", "Kilo Nova", 2023, (
        ("Launch Window", 222), ("Zero Gravity Tea", 209), ("Perigee", 259),
        ("Satellite Town", 191),
    )),
)  # fmt: skip

TITLES: tuple[str, ...] = tuple(title for album in ALBUMS for title, _ in album.tracks)
ALBUM_OF: dict[str, Album] = {title: album for album in ALBUMS for title, _ in album.tracks}
SECONDS_OF: dict[str, int] = {title: long for album in ALBUMS for title, long in album.tracks}

PLAYLIST_NAMES: tuple[str, ...] = ("Morning run", "Focus", "Dinner with friends", "Old favourites")
