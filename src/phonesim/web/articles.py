"""Invented texts: entries of the encyclopedia and stories of the newspaper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Article:
    """A page to read. `facts` are the rows of its table: name and value."""

    title: str
    section: str
    text: tuple[str, ...]
    facts: tuple[tuple[str, str], ...] = ()
    picture: str = ""

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.casefold()).strip("-")

    def fact(self, name: str) -> str:
        return dict(self.facts)[name]


# name, founded, inhabitants, river, known for, photo
TOWNS = (
    ("Velmark", 1642, 48_200, "Osk", "its glass bridges", "city"),
    ("Ostby", 1187, 9_400, "Lir", "smoked herring", "harbour"),
    ("Karrow", 1805, 131_000, "Temmer", "clocks", "city"),
    ("Dunleth", 1420, 22_700, "Aven", "the winter market", "mountain"),
    ("Port Sabine", 1733, 87_500, "Sabine", "its lighthouse museum", "beach"),
    ("Hallow Ford", 1296, 5_100, "Wend", "a bell without a tower", "forest"),
    ("Mirefield", 1911, 64_300, "Dray", "tulips", "garden"),
    ("Castrel", 1058, 210_000, "Ombra", "the oldest library of the region", "city"),
    ("Nenning", 1574, 15_800, "Ister", "goat cheese", "mountain"),
    ("Saltmere", 1689, 33_900, "Grell", "salt caves", "lake"),
    ("Brackenholt", 1349, 12_600, "Yarrow", "wooden bicycles", "forest"),
    ("Tivaldi", 1502, 76_400, "Arno Vecchio", "an opera on a boat", "harbour"),
    ("Eskerby", 1876, 41_000, "Skell", "wind music", "beach"),
    ("Lowen", 1233, 18_300, "Lower Wend", "paper kites", "garden"),
    ("Quarrick", 1788, 57_700, "Stave", "marble", "mountain"),
    ("Fenwater", 1617, 26_500, "Marl", "eel races", "lake"),
)
# name, height in metres, first climbed, range
MOUNTAINS = (
    ("Mount Hesper", 3412, 1871, "Cold Range"),
    ("The Needle of Orm", 2987, 1902, "Orm Hills"),
    ("Great Palter", 4120, 1894, "Cold Range"),
    ("Sister Ridge", 2264, 1766, "Twin Range"),
    ("Old Grimmet", 1893, 1688, "Grey Moors"),
    ("Mount Callow", 3755, 1923, "Southern Wall"),
    ("The Anvil", 2640, 1838, "Southern Wall"),
    ("White Tolland", 3098, 1855, "Twin Range"),
)
# headline, section, name and value of its fact, first sentence, photo
STORIES = (
    ("New ferry to Ostby starts in June", "Travel", "Crossing time", "35 minutes",
     "The blue boats will leave every hour from the old pier.", "harbour"),
    ("Velmark opens a library for tools", "City", "Items to borrow", "840",
     "Members pay with an evening of repairs a year.", "city"),
    ("Storm closes the coast road", "Weather", "Wind speed", "112 km/h",
     "Nobody was hurt, and the road opens again on Thursday.", "beach"),
    ("Chess champion of Karrow is eleven", "People", "Games won", "31",
     "She learned the game from her neighbour, a retired baker.", "portrait"),
    ("Night train to Castrel returns", "Travel", "Ticket price", "$59",
     "The train leaves at ten and serves breakfast at seven.", "night"),
    ("Tulip harvest breaks a record", "Country", "Flowers cut", "6.2 million",
     "Growers in Mirefield thank a mild spring.", "tulip"),
    ("Goats clear the park of Nenning", "Country", "Number of goats", "48",
     "They work for grass and cost the town nothing.", "forest"),
    ("Bridge of glass gets a second lane", "City", "Building time", "14 months",
     "Cyclists had asked for it for years.", "city"),
    ("School garden wins the county prize", "People", "Prize money", "$2,500",
     "The pupils will spend it on a greenhouse.", "garden"),
    ("Lighthouse museum stays open at night", "Culture", "Closing hour", "23:00",
     "Visitors may turn the great lamp by hand.", "beach"),
    ("Eel race ends in a draw", "Sport", "Spectators", "3,900",
     "Both eels were set free in the Marl.", "lake"),
    ("Wooden bicycles go on tour", "Sport", "Length of the tour", "410 km",
     "The makers of Brackenholt ride them themselves.", "forest"),
)  # fmt: skip

OLD_CENTRE = (
    "Its old centre burned down twice and was built again in stone both times. Today most "
    "people work in small workshops, in schools or on the railway."
)
HUT = (
    "A hut below the summit takes in walkers from May to October; the key hangs at the "
    "post office in the valley."
)
REPORTER = (
    "Our reporter was there and spoke with people who had waited long for this day. Most "
    "of them smiled; one complained about the coffee."
)


@cache
def entries() -> dict[str, Article]:
    """Return the articles of the encyclopedia by slug."""
    towns = (_town(*row) for row in TOWNS)
    mountains = (_mountain(*row) for row in MOUNTAINS)
    return {article.slug: article for article in (*towns, *mountains)}


@cache
def stories() -> dict[str, Article]:
    """Return the articles of the newspaper by slug, newest first."""
    return {article.slug: article for article in (_story(*row) for row in STORIES)}


def _town(name: str, founded: int, people: int, river: str, famous: str, photo: str) -> Article:
    return Article(
        name,
        "Towns",
        (
            f"{name} is a town on the river {river}. It is known for {famous}.",
            OLD_CENTRE,
            f"In summer, visitors come to {name} by boat; in winter the market keeps it awake.",
        ),
        (("Founded", str(founded)), ("Inhabitants", f"{people:,}"), ("River", river)),
        f"photo:{photo}",
    )


def _mountain(name: str, height: int, climbed: int, chain: str) -> Article:
    return Article(
        name,
        "Mountains",
        (
            f"{name} is a mountain in the {chain}. Its northern side keeps its snow all year.",
            HUT,
        ),
        (("Height", f"{height:,} m"), ("First climbed", str(climbed)), ("Range", chain)),
        "photo:mountain",
    )


def _story(title: str, section: str, what: str, value: str, sentence: str, photo: str) -> Article:
    return Article(
        title,
        section,
        (
            sentence,
            REPORTER,
            "More about it on Saturday, in the paper and here.",
        ),
        ((what, value),),
        f"photo:{photo}",
    )
