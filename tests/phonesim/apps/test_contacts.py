"""The address book, by what stands on the screen."""

import pytest
from tests.phonesim.conftest import Use

from phonesim.contents.calls import Call
from phonesim.contents.people import Contact, by_name
from phonesim.drift import NO_DRIFT, Drift
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Open, Press
from phonesim.tasks.solver import Solver


@pytest.fixture
def phone() -> Phone:
    return Phone(5, NO_DRIFT)


def test_a_new_contact_has_what_was_typed(phone: Phone, use: Use) -> None:
    use(
        Open("Contacts"),
        Press("New contact"),
        Fill("Name", "Ada Example"),
        Fill("Phone number", "557 1234"),
        Press("Work"),
        Press("Birthday"),
        Press("Mar"),
        Press("14"),
        Press("Save"),
    )
    (ada,) = phone.facts.where(Contact, lambda c: c.name == "Ada Example")
    assert (ada.phone, ada.label, ada.birthday) == ("557 1234", "Work", (3, 14))


def test_a_contact_without_a_name_is_not_saved(phone: Phone, use: Use) -> None:
    before = phone.facts.all(Contact)
    use(Open("Contacts"), Press("New contact"), Fill("Phone number", "557 1"))
    use(Press("Save"))
    assert phone.facts.all(Contact) == before
    assert phone.routes[-1].page == "edit"


def test_search_finds_names_and_the_digits_of_numbers(
    phone: Phone, finger: Finger, use: Use
) -> None:
    person = by_name(phone.facts)[3]
    for query in (person.name[:6].upper(), person.phone.replace(" ", "")):
        use(Open("Contacts"), Fill("Search contacts", query))
        assert person.name in finger.labels
    use(Fill("Search contacts", "nobody at all"))
    assert "Nobody here" in finger.labels


def test_deleting_asks_first_and_closes_the_page(phone: Phone, use: Use) -> None:
    person = by_name(phone.facts)[0]
    use(Open("Contacts"), Press(person.name), Press("Delete contact"), Press("Cancel"))
    assert person in phone.facts.all(Contact)
    use(Press("Delete contact"), Press("Delete"))
    assert person not in phone.facts.all(Contact)
    assert phone.routes[-1].page == "home"


def test_the_ways_to_reach_somebody_lead_to_the_other_apps(phone: Phone, use: Use) -> None:
    person = by_name(phone.facts)[1]
    use(Open("Contacts"), Press(person.name), Press("Message"))
    assert (phone.state.front, phone.routes[-1].args) == ("Messages", (person.phone,))
    phone.launch("Contacts")
    use(Press("Mail"))
    assert phone.routes[-1].memory["to"] == person.email
    phone.launch("Contacts")
    use(Press("Call"))
    assert phone.facts.all(Call)[-1].number == person.phone
    assert phone.state.front == "Phone"


@pytest.mark.parametrize("seed", range(6))
def test_favourites_are_a_tab_in_every_version(seed: int) -> None:
    phone = Phone(seed, Drift(popup_rate=0.0))
    finger = Finger(phone)
    for person in phone.facts.all(Contact):
        phone.facts.edit(person, favourite=False)
    person = by_name(phone.facts)[0]
    finger.follow(Solver([Open("Contacts"), Press(person.name), Press("Add to favourites")]))
    phone.back()
    finger.tap("Favourites", "tab")
    assert [e.text for e in phone.elements() if e.role == "row"] == [person.name]
