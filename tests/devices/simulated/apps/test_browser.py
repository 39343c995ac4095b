"""The app Browser, by taps."""

from __future__ import annotations

import pytest

from distrl.devices.simulated.drift import NO_DRIFT, Drift
from distrl.devices.simulated.phone import Phone
from distrl.devices.simulated.web.browser_window import ADDRESS_LABEL
from distrl.devices.simulated.web.browsing import Bookmark, Shortcut, Tab
from distrl.devices.simulated.web.site import PageVisit
from distrl.records import FINAL_ACTIONS, Back, OpenApp, Tap
from distrl.tasks.moves import Fill, Hold, Move, Press, Submit
from distrl.tasks.solver import Solver


def use(phone: Phone, *moves: Move) -> None:
    """Carry out the moves as a person would, by what the screen shows."""
    solver = Solver(moves)
    while not isinstance(action := solver.next(phone.elements()), FINAL_ACTIONS):
        phone.perform(action)


def labels(phone: Phone) -> set[str]:
    return {element.text for element in phone.elements()}


def url(phone: Phone) -> str:
    """Where the browser is; empty on a page of its own."""
    top = phone.routes[-1]
    return str(top.args[0]) if top.page == "site" else ""


def visit(phone: Phone, text: str) -> None:
    use(phone, Fill(ADDRESS_LABEL, text), Submit())


@pytest.fixture
def phone() -> Phone:
    phone = Phone(1, NO_DRIFT)
    phone.perform(OpenApp("Browser"))
    return phone


@pytest.mark.parametrize("typed", ["almanac.wiki", "https://almanac.wiki", "www.Almanac.wiki"])
def test_an_address_is_opened_however_it_is_written(phone: Phone, typed: str) -> None:
    visit(phone, typed)
    assert url(phone) == "almanac.wiki"


def test_other_words_are_searched_for_and_results_lead_on(phone: Phone) -> None:
    visit(phone, "Great Palter")
    assert url(phone) == "finch.search/search?q=Great+Palter"
    use(phone, Press("Great Palter – Almanac", role="row"))
    assert url(phone) == "almanac.wiki/read/great-palter"


def test_an_unknown_address_says_so(phone: Phone) -> None:
    visit(phone, "nowhere.example")
    assert "nowhere.example cannot be reached" in labels(phone)


def test_back_goes_back_through_the_pages_and_forward_comes_again(phone: Phone) -> None:
    use(phone, Press("Almanac", role="button"), Press("Velmark"))
    phone.perform(Back())
    assert url(phone) == "almanac.wiki"
    use(phone, Press("More options"), Press("Forward"))
    assert url(phone) == "almanac.wiki/read/velmark"
    for _ in range(2):
        phone.perform(Back())
    assert url(phone) == ""
    assert "In the news" in labels(phone)


def test_tabs_keep_their_pages_and_a_closed_one_takes_its_pages_along(phone: Phone) -> None:
    use(phone, Press("Almanac", role="button"), Press("More options"), Press("New tab"))
    use(phone, Press("Harbour Post", role="button"))
    assert url(phone) == "harbourpost.news"
    assert len(phone.facts.all(Tab)) == 2
    use(phone, Press("Tabs"), Press("Almanac", role="row"))
    assert url(phone) == "almanac.wiki"
    use(phone, Press("Tabs"), Press("Close Almanac"))
    phone.perform(Back())
    assert "Search the news" in labels(phone)
    assert url(phone) == "harbourpost.news"


def test_the_browser_lives_on_without_any_tab(phone: Phone) -> None:
    use(phone, Press("Tabs"), Press("Close New tab"))
    phone.perform(Back())
    use(phone, Press("Almanac", role="button"))
    assert url(phone) == "almanac.wiki"
    assert len(phone.facts.all(Tab)) == 1


def test_a_bookmark_comes_and_goes(phone: Phone) -> None:
    before = phone.facts.all(Bookmark)
    use(phone, Press("Almanac", role="button"), Press("More options"), Press("Bookmark this page"))
    assert phone.facts.all(Bookmark)[-1].url == "almanac.wiki"
    use(phone, Press("More options"), Press("Bookmarks"), Press("Options for Almanac"))
    use(phone, Press("Delete"))
    assert phone.facts.all(Bookmark) == before


def test_the_history_lists_visits_and_can_be_cleared(phone: Phone) -> None:
    use(phone, Press("Almanac", role="button"), Press("More options"), Press("History"))
    assert "Almanac" in labels(phone)
    use(phone, Press("Clear history"))
    assert not phone.facts.all(PageVisit)


def test_a_shortcut_can_be_removed(phone: Phone) -> None:
    use(phone, Hold("Linnet"), Press("Remove shortcut"))
    assert "linnet.shop" not in {s.domain for s in phone.facts.all(Shortcut)}
    assert "Linnet" not in labels(phone)


def test_the_search_box_of_the_home_screen_leads_to_a_search() -> None:
    phone = Phone(1, NO_DRIFT)
    use(phone, Press("Search the web"))
    visit(phone, "eel races")
    assert url(phone) == "finch.search/search?q=eel+races"


@pytest.mark.parametrize("seed", range(6))
def test_typing_into_the_bar_replaces_the_address_wherever_the_bar_is(seed: int) -> None:
    phone = Phone(seed, Drift(popup_rate=0.0))
    phone.perform(OpenApp("Browser"))
    use(phone, Press("Almanac", role="button"))
    visit(phone, "harbourpost.news")
    assert url(phone) == "harbourpost.news"


def test_a_tap_beside_a_menu_closes_it(phone: Phone) -> None:
    use(phone, Press("More options"))
    phone.perform(Tap(0.1, 0.9))
    assert "Bookmarks" not in labels(phone)
