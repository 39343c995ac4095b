"""From a dish to the complaint: what Food orders, charges, pays back and remembers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.phonesim.apps.everyday.test_install import everyday_phone
from tests.phonesim.conftest import Use

from phonesim.contents.everyday.meals import (
    FEE_CENTS,
    RESTAURANTS,
    BasketLine,
    Complaint,
    FavouriteRestaurant,
    FoodOrder,
    state_of,
)
from phonesim.contents.everyday.money import Account
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Open, Press, Reveal

LOTUS = next(place for place in RESTAURANTS if place.name == "Lotus Bowl")


@pytest.fixture
def phone() -> Phone:
    return everyday_phone(1)


def order_ramen(use: Use) -> None:
    use(Open("Food"), Press("Lotus Bowl"), Press("Ramen", role="row"), Press("More"))
    use(Press("Add to basket"), Press("Basket"), Press("Checkout"), Press("Place order"))


def test_an_order_is_paid_with_the_fee_and_empties_the_basket(phone: Phone, use: Use) -> None:
    before = phone.facts.one(Account).balance_cents
    order_ramen(use)
    made = phone.facts.all(FoodOrder)[-1]
    assert made.dishes == ("Ramen", "Ramen")
    assert made.cents == 2 * LOTUS.dishes[0].cents + FEE_CENTS
    assert phone.facts.one(Account).balance_cents == before - made.cents
    assert not phone.facts.all(BasketLine)


def test_what_cannot_be_paid_is_not_ordered(phone: Phone, use: Use) -> None:
    phone.facts.change(Account, balance_cents=5_00)
    count = len(phone.facts.all(FoodOrder))
    order_ramen(use)
    assert phone.routes[-1].page == "not_paid"
    assert (len(phone.facts.all(FoodOrder)), len(phone.facts.all(BasketLine))) == (count, 1)


def test_a_basket_holds_dishes_of_one_place(phone: Phone, use: Use) -> None:
    use(Open("Food"), Press("Lotus Bowl"), Press("Ramen", role="row"), Press("Add to basket"))
    use(GoBack(), Press("Stone Oven"), Press("Spicy salami", role="row"), Press("Add to basket"))
    assert [line.dish for line in phone.facts.all(BasketLine)] == ["Ramen"]
    use(Press("Empty basket"))
    assert not phone.facts.all(BasketLine)


def test_an_order_moves_with_the_clock_and_can_be_cancelled_at_first(
    phone: Phone, use: Use
) -> None:
    order_ramen(use)
    made, before = phone.facts.all(FoodOrder)[-1], phone.facts.one(Account).balance_cents
    states = [state_of(made, made.time + timedelta(minutes=m)) for m in (0, 8, 16, 24, 90)]
    assert states == ["Accepted", "In the kitchen", "On its way", "Delivered", "Delivered"]
    use(Press("Follow order"), Press("Cancel order"), Press("Cancel it"))
    assert phone.facts.get(FoodOrder, made.id).cancelled
    assert phone.facts.one(Account).balance_cents == before + made.cents


def test_a_tip_is_paid_and_kept_with_the_order(phone: Phone, use: Use) -> None:
    newest = max(phone.facts.all(FoodOrder), key=lambda order: order.time)
    before = phone.facts.one(Account).balance_cents
    use(Open("Food"), Press("More options"), Press("My orders"))
    use(Press(newest.restaurant, role="row"), Press("Give a tip"), Press("$2.00"))
    assert phone.facts.get(FoodOrder, newest.id).tip_cents == 2_00
    assert phone.facts.one(Account).balance_cents == before - 2_00


def test_a_complaint_stands_in_the_list_of_complaints(phone: Phone, use: Use) -> None:
    newest = max(phone.facts.all(FoodOrder), key=lambda order: order.time)
    use(Open("Food"), Press("More options"), Press("My complaints"))
    use(Reveal("Nothing to complain about"), GoBack(), Press("More options"), Press("My orders"))
    use(Press(newest.restaurant, role="row"), Press("Complain"), Press("It came cold"))
    use(Fill("Tell us more", "Ice cold"), Press("Send complaint"), Press("Close"))
    made = phone.facts.all(Complaint)[-1]
    assert (made.order, made.reason, made.text) == (newest.id, "It came cold", "Ice cold")
    use(GoBack(), GoBack(), Press("More options"), Press("My complaints"))
    use(Press(newest.restaurant, role="row"))
    assert (phone.routes[-1].page, phone.routes[-1].args) == ("order", (newest.id,))


def test_a_closed_kitchen_sells_nothing_and_says_so(phone: Phone, use: Use) -> None:
    use(Open("Food"), Press("Night Owl"), Press("Late burger", role="row"))
    assert phone.routes[-1].page == "closed"
    use(Press("Go back"), Press("About this place"), Reveal("Opening hours"))
    assert any(element.detail == "Closed at the moment" for element in phone.elements())


def test_hearts_come_and_go(phone: Phone, use: Use) -> None:
    phone.facts.remove_where(FavouriteRestaurant, lambda _: True)
    use(Open("Food"), Press("Lotus Bowl"), Press("Add to favourites"))
    assert [each.name for each in phone.facts.all(FavouriteRestaurant)] == ["Lotus Bowl"]
    use(Press("Remove from favourites"))
    assert not phone.facts.all(FavouriteRestaurant)
