"""Tasks in the app Browser outside the shops: search, pages, tabs, bookmarks, history."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_removed
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Hold, Move, Open, Press, Submit
from phonesim.tasks.template import Template, View, added, changed, removed
from phonesim.web.address import Address, parse
from phonesim.web.articles import entries, stories
from phonesim.web.browser_window import ADDRESS_LABEL
from phonesim.web.browsing import Bookmark, Shortcut, Tab
from phonesim.web.readings import ALMANAC, HARBOUR_POST, ReadingSite
from phonesim.web.search_engine import FINCH
from phonesim.web.site import PageVisit
from phonesim.web.sites import SITES, title_of

TOPICS = Domain(
    "web searches",
    (
        "weather in Velmark", "running shoes", "how to tie a bow", "night train timetable",
        "best soup recipes", "eel races", "second hand bicycles", "salt caves", "paper kites",
        "cheap tablets", "opening hours library", "winter market", "learn to juggle",
        "houseplants for dark rooms", "goat cheese", "quiet vacuum cleaner",
    ),
)  # fmt: skip
READABLE = ("almanac.wiki", "harbourpost.news", "finch.search", "marlowe.shop", "linnet.shop",
            "hearthwell.shop", "ohmstead.shop", "quillmoor.shop")  # fmt: skip


def _named(domain: str) -> str:
    return SITES[domain].name.title()


ENTRIES = Domain("almanac entries", tuple(entries()), say=lambda slug: entries()[slug].title)
STORIES = Domain("news stories", tuple(stories()), say=lambda slug: stories()[slug].title)
SITE_DOMAINS = Domain("web sites", READABLE)


def _address(view: View) -> Address | None:
    if view.app != "Browser" or view.page != "site":
        return None
    return parse(str(view.args[0]))


def reading(site: ReadingSite, slug: str) -> Iterable[Move]:
    """Yield the moves to an article, by the site's shortcut."""
    yield Open("Browser")
    yield Press(site.name, role="button")
    yield Press(site.articles()[slug].title, role="row")


def _url(site: ReadingSite, slug: str) -> str:
    return str(site.address("read", slug))


@dataclass(frozen=True)
class SearchTheWeb(Template):
    name = "browser.search"
    apps = ("Browser",)
    difficulty = "medium"
    phrasings = (
        'Search the web for "{topic}"',
        'Open the browser and look up "{topic}"',
        'Type "{topic}" into the browser and show me what the search finds',
    )
    topic: str = parameter(TOPICS)

    def missing(self, start: View, end: View) -> str | None:
        here = _address(end)
        if here is None or here.domain != FINCH.domain:
            return "the browser does not show search results"
        found = here.get("q")
        return None if same_text(found, self.topic) else f"the search was for {found!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Fill(ADDRESS_LABEL, self.topic)
        yield Submit()


@dataclass(frozen=True)
class ReadEntry(Template):
    name = "browser.read_entry"
    apps = ("Browser",)
    difficulty = "medium"
    phrasings = (
        "Open the article about {entry} on almanac.wiki",
        "Show me what Almanac says about {entry}",
        "Go to Almanac in the browser and open the entry {entry}",
    )
    entry: str = parameter(ENTRIES)

    def missing(self, start: View, end: View) -> str | None:
        here = _address(end)
        wanted = _url(ALMANAC, self.entry)
        return None if str(here) == wanted else f"the browser shows {here}, not {wanted}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from reading(ALMANAC, self.entry)


@dataclass(frozen=True)
class BookmarkStory(Template):
    name = "browser.bookmark"
    apps = ("Browser",)
    difficulty = "medium"
    phrasings = (
        "Bookmark the story “{story}” in the Harbour Post",
        "Open “{story}” on harbourpost.news and add it to my bookmarks",
        "I want to read “{story}” from the Harbour Post later, so bookmark it",
    )
    touches = (Bookmark,)
    story: str = parameter(STORIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        url = _url(HARBOUR_POST, self.story)
        facts.remove_where(Bookmark, lambda bookmark: bookmark.url == url)

    def missing(self, start: View, end: View) -> str | None:
        new = [bookmark.url for bookmark in added(start, end, Bookmark)]
        if new != [_url(HARBOUR_POST, self.story)]:
            return f"expected one new bookmark, of the story; new: {new}"
        if removed(start, end, Bookmark) or changed(start, end, Bookmark):
            return "another bookmark was changed"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield from reading(HARBOUR_POST, self.story)
        yield Press("More options")
        yield Press("Bookmark this page")


@dataclass(frozen=True)
class DeleteBookmark(Template):
    name = "browser.delete_bookmark"
    apps = ("Browser",)
    difficulty = "medium"
    phrasings = (
        "Delete the bookmark of the Almanac article about {entry}",
        "Remove {entry} from my browser bookmarks",
        "I no longer need the bookmark “{entry}”. Delete it in the browser",
    )
    touches = (Bookmark,)
    entry: str = parameter(ENTRIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        url = _url(ALMANAC, self.entry)
        facts.remove_where(Bookmark, lambda bookmark: bookmark.url == url)
        facts.add(Bookmark(url=url, title=title_of(url)))

    def missing(self, start: View, end: View) -> str | None:
        url = _url(ALMANAC, self.entry)
        mark = next(bookmark for bookmark in start.all(Bookmark) if bookmark.url == url)
        return only_removed(start, end, Bookmark, mark.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Press("More options")
        yield Press("Bookmarks")
        yield Press(f"Options for {title_of(_url(ALMANAC, self.entry))}")
        yield Press("Delete")


@dataclass(frozen=True)
class OpenBookmark(Template):
    name = "browser.open_bookmark"
    apps = ("Browser",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Open my bookmark of the story “{story}”",
        "I bookmarked “{story}”. Open it from the bookmarks",
        "Go to the bookmarked page “{story}” in the browser",
    )
    story: str = parameter(STORIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        url = _url(HARBOUR_POST, self.story)
        facts.remove_where(Bookmark, lambda bookmark: bookmark.url == url)
        shown = [url, *(_url(ALMANAC, slug) for slug in rng.sample(list(entries()), 5))]
        rng.shuffle(shown)
        for each in shown:
            facts.add(Bookmark(url=each, title=title_of(each)))

    def missing(self, start: View, end: View) -> str | None:
        here, wanted = _address(end), _url(HARBOUR_POST, self.story)
        return None if str(here) == wanted else f"the browser shows {here}, not {wanted}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Press("More options")
        yield Press("Bookmarks")
        yield Press(title_of(_url(HARBOUR_POST, self.story)))


@dataclass(frozen=True)
class OpenInNewTab(Template):
    name = "browser.new_tab"
    apps = ("Browser",)
    difficulty = "medium"
    phrasings = (
        "Open a new tab in the browser and go to {domain} in it",
        "Open {domain} in a new browser tab",
        "I want {domain} in a tab of its own; keep the other tabs",
    )
    domain: str = parameter(SITE_DOMAINS)

    def missing(self, start: View, end: View) -> str | None:
        here = _address(end)
        if here is None or here.domain != self.domain or here.path:
            return f"the browser shows {here}, not {self.domain}"
        new = [tab.id for tab in added(start, end, Tab)]
        if len(new) != 1 or removed(start, end, Tab):
            return f"expected one new tab and the others still there; {len(new)} are new"
        return None if end.memory.get("tab") == new[0] else "the page is not in the new tab"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Press("More options")
        yield Press("New tab")
        yield Fill(ADDRESS_LABEL, self.domain)
        yield Submit()


@dataclass(frozen=True)
class CloseTab(Template):
    name = "browser.close_tab"
    apps = ("Browser",)
    difficulty = "easy"
    phrasings = (
        "Close the browser tab with the Almanac article about {entry}",
        "In the browser, close the tab “{entry}”",
        "I have {entry} open in a tab. Close it, but leave my other tabs",
    )
    touches = (Tab,)
    entry: str = parameter(ENTRIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        others = [slug for slug in entries() if slug != self.entry]
        shown = [self.entry, *rng.sample(others, 4)]
        rng.shuffle(shown)
        for slug in shown:
            facts.add(Tab(url=_url(ALMANAC, slug)))

    def missing(self, start: View, end: View) -> str | None:
        gone = [tab.url for tab in removed(start, end, Tab)]
        if gone != [_url(ALMANAC, self.entry)] or added(start, end, Tab):
            return f"expected only the tab of {self.entry!r} to be closed; closed: {gone}"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Press("Tabs")
        yield Press(f"Close {title_of(_url(ALMANAC, self.entry))}")


@dataclass(frozen=True)
class RemoveShortcut(Template):
    name = "browser.remove_shortcut"
    apps = ("Browser",)
    difficulty = "easy"
    phrasings = (
        "Remove the shortcut to {site} from the browser's new tab page",
        "I never use {site}. Take its shortcut off the browser's start page",
        "Delete the {site} shortcut in the browser",
    )
    touches = (Shortcut,)
    site: str = parameter(
        Domain("shortcuts", [d for d in READABLE if d != FINCH.domain], say=_named)
    )

    def missing(self, start: View, end: View) -> str | None:
        shortcut = next(s for s in start.all(Shortcut) if s.domain == self.site)
        return only_removed(start, end, Shortcut, shortcut.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Hold(SITES[self.site].name, role="button")
        yield Press("Remove shortcut")


@dataclass(frozen=True)
class ClearHistory(Template):
    name = "browser.clear_history"
    apps = ("Browser",)
    difficulty = "medium"
    phrasings = (
        "I was reading about {entry}. Clear the browser history",
        "Delete the whole history of the browser, {entry} and all",
        "Nobody has to know that I looked up {entry}: clear my browsing history",
    )
    touches = (PageVisit,)
    entry: str = parameter(ENTRIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        for slug in (*rng.sample(list(entries()), 4), self.entry):
            facts.add(PageVisit(url=_url(ALMANAC, slug)))

    def missing(self, start: View, end: View) -> str | None:
        left = len(end.all(PageVisit))
        return f"the history still has {left} pages" if left else None

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Press("More options")
        yield Press("History")
        yield Press("Clear history")


TEMPLATES: tuple[type[Template], ...] = (
    SearchTheWeb,
    ReadEntry,
    BookmarkStory,
    DeleteBookmark,
    OpenBookmark,
    OpenInNewTab,
    CloseTab,
    RemoveShortcut,
    ClearHistory,
)
