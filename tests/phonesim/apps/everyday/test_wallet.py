"""Money leaves the account when it should, and only then."""

from __future__ import annotations

import pytest
from tests.phonesim.apps.everyday.test_install import everyday_phone
from tests.phonesim.conftest import Use

from phonesim.contents.everyday.money import (
    Account,
    Bill,
    Transfer,
    cents_of,
    confirmation_code,
    money,
)
from phonesim.contents.people import Contact
from phonesim.languages.translations import forms
from phonesim.phone import Phone
from phonesim.system import Notification
from phonesim.tasks.answers import states_number
from phonesim.tasks.moves import Fill, GoBack, Open, Press, PullShade, Reveal


@pytest.fixture
def phone() -> Phone:
    return everyday_phone(1)


def begin(use: Use, person: str, amount: str) -> None:
    use(
        Open("Wallet"),
        Press("Send", role="button"),
        Fill("Search people", person),
        Press(person, role="row"),
        Fill("Amount", amount),
        Press("Continue"),
    )


def test_a_small_payment_needs_no_code(phone: Phone, use: Use) -> None:
    person, before = phone.facts.all(Contact)[0].name, phone.facts.one(Account).balance_cents
    begin(use, person, "12.5")
    use(Press("Send money"), Reveal("$12.50 sent"))
    assert phone.facts.one(Account).balance_cents == before - 12_50
    assert phone.facts.all(Transfer)[-1].person == person


def test_a_large_one_needs_the_code_of_the_notification(phone: Phone, use: Use) -> None:
    person, account = phone.facts.all(Contact)[0].name, phone.facts.one(Account)
    begin(use, person, "80")
    use(Press("Send money"))
    code = confirmation_code(account, person, 80_00)
    assert any(code in note.text for note in phone.facts.all(Notification))
    use(PullShade(), Reveal("Confirmation code"), GoBack())
    use(Fill("Confirmation code", code), Press("Confirm"), Reveal("$80.00 sent"))
    assert phone.facts.one(Account).balance_cents == account.balance_cents - 80_00


def test_three_wrong_codes_send_nothing(phone: Phone, use: Use) -> None:
    before = phone.facts.one(Account)
    begin(use, phone.facts.all(Contact)[0].name, "80")
    use(Press("Send money"))
    for wrong in ("1", "12", "123"):
        use(Fill("Confirmation code", wrong), Press("Confirm"))
    assert phone.routes[-1].page == "payees"
    assert phone.facts.one(Account) == before


def test_what_is_not_there_cannot_be_sent(phone: Phone, use: Use) -> None:
    begin(use, phone.facts.all(Contact)[0].name, "9999")
    assert phone.routes[-1].page == "declined"


def test_a_bill_is_paid_once(phone: Phone, use: Use) -> None:
    bill = next(each for each in phone.facts.all(Bill) if not each.paid)
    use(Open("Wallet"), Press("Bills"), Press(bill.company, role="row"))
    use(Press("Pay now"), Press("Pay"), Reveal(f"{money(bill.cents)} sent"))
    assert phone.facts.get(Bill, bill.id).paid
    use(GoBack())
    button = next(e for e in phone.elements() if e.text == "Pay now")
    assert not button.enabled


@pytest.mark.parametrize(
    ("typed", "cents"),
    [("12", 12_00), ("12.5", 12_50), ("$0.05", 5), ("12,50", 12_50), ("0", None), ("-3", None),
     ("1e3", None), ("", None), ("12.345", None), ("999999", None),
     ("1,312.50", 1312_50), ("1.312,50", 1312_50), ("$1,000", 1000_00), ("1,31.50", None)],
)  # fmt: skip
def test_amounts_are_read_as_people_write_them(typed: str, cents: int | None) -> None:
    assert cents_of(typed) == cents


def test_thousands_have_a_mark_that_scripts_and_judges_read(phone: Phone, use: Use) -> None:
    assert (money(3460_22), money(-1000_00), money(999_99)) == (
        "$3,460.22",
        "-$1,000.00",
        "$999.99",
    )
    assert {"$3,460.22", "3.460,22 $"} <= forms("$3,460.22")
    assert states_number("It is $3,460.22", 3460.22)
    assert states_number("3460.22 dollars", 3460.22)
    phone.facts.change(Account, balance_cents=3460_22)
    use(Open("Wallet"))
    assert any(e.value == "$3,460.22" or e.text == "$3,460.22" for e in phone.elements())
