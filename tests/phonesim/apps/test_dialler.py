"""Calls, the log and blocked numbers, by what stands on the screen."""

import pytest
from tests.phonesim.conftest import Use

from distrl.records import Wait
from phonesim.contents.calls import BlockedNumber, Call
from phonesim.contents.people import Contact, by_name
from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import GoBack, Open, Press


@pytest.fixture
def phone() -> Phone:
    return Phone(5, NO_DRIFT)


def test_dialled_digits_can_be_erased_and_called(phone: Phone, use: Use) -> None:
    use(Open("Phone"), *(Press(d, role="button") for d in "12"), Press("Erase digit"))
    use(*(Press(d, role="button") for d in "904"), Press("Call"))
    call = phone.facts.all(Call)[-1]
    assert (call.number, call.direction, call.ended) == ("1904", "outgoing", False)


def test_calling_needs_a_number(phone: Phone, use: Use) -> None:
    before = phone.facts.all(Call)
    use(Open("Phone"), Press("Call"))
    assert phone.facts.all(Call) == before
    assert phone.state.message == "Dial a number first"


def test_a_call_runs_until_somebody_hangs_up(phone: Phone, finger: Finger, use: Use) -> None:
    person = by_name(phone.facts)[0]
    use(Open("Phone"), Press("Contacts", role="tab"), Press(f"Call {person.name}"))
    assert person.name in finger.labels
    use(Press("Mute"))
    assert phone.facts.all(Call)[-1].muted
    phone.perform(Wait(30.0))
    use(GoBack(), Press("Return to call"), Press("Hang up"))
    call = phone.facts.all(Call)[-1]
    assert call.ended
    assert call.seconds >= 30
    assert "Return to call" not in finger.labels


def test_a_second_call_ends_the_first(phone: Phone, use: Use) -> None:
    first, second = by_name(phone.facts)[:2]
    use(Open("Phone"), Press("Contacts", role="tab"), Press(f"Call {first.name}"))
    use(GoBack(), Press(f"Call {second.name}"))
    assert [c.number for c in phone.facts.all(Call) if not c.ended] == [second.phone]
    use(Press("Hang up"))
    assert phone.routes[-1].page == "home"  # the page of the first call has closed itself


def test_the_log_shows_missed_calls_apart_and_forgets_one(phone: Phone, use: Use) -> None:
    use(Open("Phone"), Press("Recents", role="tab"), Press("Missed"))
    rows = [e for e in phone.elements() if e.role == "row"]
    assert rows
    assert {row.detail for row in rows} == {"Missed call"}
    before = len(phone.facts.all(Call))
    use(Press(rows[0].text), Press("Delete call"))
    assert len(phone.facts.all(Call)) == before - 1


def test_blocking_and_unblocking_a_caller(phone: Phone, use: Use) -> None:
    newest = max(phone.facts.all(Call), key=lambda c: c.time)
    known = phone.facts.find(Contact, lambda c: c.phone == newest.number)
    name = known.name if known else newest.number
    use(Open("Phone"), Press("Recents", role="tab"), Press(name), Press("Block number"))
    use(Press("Block"))
    assert newest.number in [b.number for b in phone.facts.all(BlockedNumber)]
    use(GoBack(), Press("More options"), Press("Blocked numbers"))
    use(Press(f"Unblock {newest.number}"))
    assert newest.number not in [b.number for b in phone.facts.all(BlockedNumber)]
