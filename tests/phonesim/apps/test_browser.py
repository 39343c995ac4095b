"""The app Browser, by taps."""

from __future__ import annotations

import pytest
from tests.phonesim.conftest import Use

from distrl.records import Back, OpenApp, Tap
from phonesim.drift import NO_DRIFT, Drift
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Hold, Press, Submit
from phonesim.tasks.solver import Solver
from phonesim.web.browser_window import ADDRESS_LABEL
from phonesim.web.browsing import Bookmark, Shortcut, Tab
from phonesim.web.site import PageVisit


def url(phone: Phone) -> str:
    """Where the browser is; empty on a page of its own."""
    top = phone.routes[-1]
    return str(top.args[0]) if top.page == "site" else ""


def visit(use: Use, text: str) -> None:
    use(Fill(ADDRESS_LABEL, text), Submit())


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Browser"))
    return phone


@pytest.mark.parametrize("typed", ["almanac.wiki", "https://almanac.wiki", "www.Almanac.wiki"])
def test_an_address_is_opened_however_it_is_written(phone: Phone, use: Use, typed: str) -> None:
    visit(use, typed)
    assert url(phone) == "almanac.wiki"


def test_other_words_are_searched_for_and_results_lead_on(phone: Phone, use: Use) -> None:
    visit(use, "Great Palter")
    assert url(phone) == "finch.search/search?q=Great+Palter"
    use(Press("Great Palter – Almanac", role="row"))
    assert url(phone) == "almanac.wiki/read/great-palter"


def test_an_unknown_address_says_so(finger: Finger, use: Use) -> None:
    visit(use, "nowhere.example")
    assert "nowhere.example cannot be reached" in finger.labels


def test_back_goes_back_through_the_pages_and_forward_comes_again(
    phone: Phone, finger: Finger, use: Use
) -> None:
    use(Press("Almanac", role="button"), Press("Velmark"))
    phone.perform(Back())
    assert url(phone) == "almanac.wiki"
    use(Press("More options"), Press("Forward"))
    assert url(phone) == "almanac.wiki/read/velmark"
    for _ in range(2):
        phone.perform(Back())
    assert url(phone) == ""
    assert "In the news" in finger.labels


def test_tabs_keep_their_pages_and_a_closed_one_takes_its_pages_along(
    phone: Phone, finger: Finger, use: Use
) -> None:
    use(Press("Almanac", role="button"), Press("More options"), Press("New tab"))
    use(Press("Harbour Post", role="button"))
    assert url(phone) == "harbourpost.news"
    assert len(phone.facts.all(Tab)) == 2
    use(Press("Tabs"), Press("Almanac", role="row"))
    assert url(phone) == "almanac.wiki"
    use(Press("Tabs"), Press("Close Almanac"))
    phone.perform(Back())
    assert "Search the news" in finger.labels
    assert url(phone) == "harbourpost.news"


def test_the_browser_lives_on_without_any_tab(phone: Phone, use: Use) -> None:
    use(Press("Tabs"), Press("Close New tab"))
    phone.perform(Back())
    use(Press("Almanac", role="button"))
    assert url(phone) == "almanac.wiki"
    assert len(phone.facts.all(Tab)) == 1


def test_a_bookmark_comes_and_goes(phone: Phone, use: Use) -> None:
    before = phone.facts.all(Bookmark)
    use(Press("Almanac", role="button"), Press("More options"), Press("Bookmark this page"))
    assert phone.facts.all(Bookmark)[-1].url == "almanac.wiki"
    use(Press("More options"), Press("Bookmarks"), Press("Options for Almanac"))
    use(Press("Delete"))
    assert phone.facts.all(Bookmark) == before


def test_the_history_lists_visits_and_can_be_cleared(
    phone: Phone, finger: Finger, use: Use
) -> None:
    use(Press("Almanac", role="button"), Press("More options"), Press("History"))
    assert "Almanac" in finger.labels
    use(Press("Clear history"))
    assert not phone.facts.all(PageVisit)


def test_a_shortcut_can_be_removed(phone: Phone, finger: Finger, use: Use) -> None:
    use(Hold("Linnet"), Press("Remove shortcut"))
    assert "linnet.shop" not in {s.domain for s in phone.facts.all(Shortcut)}
    assert "Linnet" not in finger.labels


def test_the_search_box_of_the_home_screen_leads_to_a_search() -> None:
    finger = Finger(Phone(1, NO_DRIFT))
    finger.follow(Solver([Press("Search the web"), Fill(ADDRESS_LABEL, "eel races"), Submit()]))
    assert url(finger.phone) == "finch.search/search?q=eel+races"


@pytest.mark.parametrize("seed", range(6))
def test_typing_into_the_bar_replaces_the_address_wherever_the_bar_is(seed: int) -> None:
    finger = Finger(Phone(seed, Drift(popup_rate=0.0)))
    finger.open("Browser")
    typed = (Fill(ADDRESS_LABEL, "harbourpost.news"), Submit())
    finger.follow(Solver([Press("Almanac", role="button"), *typed]))
    assert url(finger.phone) == "harbourpost.news"


def test_a_tap_beside_a_menu_closes_it(phone: Phone, finger: Finger, use: Use) -> None:
    use(Press("More options"))
    phone.perform(Tap(0.1, 0.9))
    assert "Bookmarks" not in finger.labels
