"""The shops of the simulated web: what they carry, how they find it, and how one buys there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.drift import NO_DRIFT, Drift
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Press, Submit
from phonesim.tasks.shopping.shelves import COLOURED, LISTINGS, OPTIONS, TWICE_SOLD
from phonesim.tasks.solver import Solver
from phonesim.web.address import page_of, parse
from phonesim.web.basket import (
    AppliedCoupon,
    CartItem,
    Newsletter,
    Order,
    WishItem,
    cart_of,
)
from phonesim.web.catalogue import Product, by_slug, dollars, lines, products
from phonesim.web.day import WebDay
from phonesim.web.offers import SORTS, Offer, Wanted
from phonesim.web.shop import Shop
from phonesim.web.shops import HELD_OUT_SHOP, MARLOWE, SHOPS
from phonesim.web.site import BannerAnswer

EVERY_SHOP = pytest.mark.parametrize("shop", SHOPS.values(), ids=lambda shop: shop.domain)


def enter(shop: Shop, drift: Drift = NO_DRIFT, seed: int = 1) -> Phone:
    """A phone with that shop open and nothing in its cart."""
    phone = Phone(seed, drift)
    phone.facts.remove_where(CartItem, lambda item: item.shop == shop.domain)
    phone.facts.remove_where(WishItem, lambda wish: wish.shop == shop.domain)
    phone.perform(OpenApp("Browser"))
    Finger(phone).follow(Solver([Press(shop.name, role="button")]))
    return phone


@pytest.fixture
def shop() -> Shop:
    return MARLOWE


@pytest.fixture
def phone(shop: Shop) -> Phone:
    return enter(shop)


def ready(phone: Phone, shop: Shop) -> Product:
    """A product that is in stock and comes in several colours."""
    offers = shop.offers(phone.facts.one(WebDay).number).values()
    return next(o.product for o in offers if o.in_stock and len(o.product.colours) > 1)


def find(use: Use, shop: Shop, product: Product) -> None:
    use(Fill(shop.search_label, product.name), Submit(), Press(product.name, role="row"))


# Catalogue and search --------------------------------------------------------------------------


def test_products_have_names_and_pages_of_their_own() -> None:
    everything = products().values()
    assert len(everything) >= 300
    assert len({p.name for p in everything}) == len(by_slug()) == len(everything)
    assert {p.line for p in everything} == set(lines())


@EVERY_SHOP
def test_a_shop_carries_enough_and_finds_each_product_by_its_name(shop: Shop) -> None:
    assert len(shop.range) >= 70
    for number in shop.range[::7]:
        product = products()[number]
        assert shop.find(3, Wanted(words=product.name))[0].product is product


@EVERY_SHOP
def test_results_stand_in_the_order_that_was_asked_for(shop: Shop) -> None:
    keys: dict[str, Callable[[Offer], int]] = {
        "price_up": lambda o: o.price,
        "price_down": lambda o: -o.price,
        "rating": lambda o: -o.rating,
        "newest": lambda o: -o.product.released.toordinal(),
    }
    assert set(keys) == set(SORTS) - {""}
    for sort, key in keys.items():
        found = shop.find(5, Wanted(line=shop.kinds[0], sort=sort))
        assert len(found) > 3
        assert [key(offer) for offer in found] == sorted(key(offer) for offer in found)


def test_filters_keep_only_what_fits() -> None:
    everything = MARLOWE.find(2, Wanted())
    cheap = MARLOWE.find(2, Wanted(price="25-50", stars="4", in_stock=True))
    assert 0 < len(cheap) < len(everything)
    for offer in cheap:
        assert 2500 <= offer.price <= 5000
        assert offer.rating >= 40
        assert offer.in_stock
    red = MARLOWE.find(2, Wanted(colour="red", brand="Halden"))
    assert red
    assert all("red" in o.product.colours and o.product.brand == "Halden" for o in red)


def test_prices_differ_between_shops_and_days() -> None:
    listing = TWICE_SOLD.train[0]
    number, shop = listing.product_id, listing.shop
    here = [shop.offers(day)[number].price for day in range(20)]
    there = [MARLOWE.offers(day)[number].price for day in range(20)]
    assert len(set(here)) > 3
    assert here != there


def test_equal_pages_have_equal_addresses() -> None:
    address = page_of("marlowe.shop", "search", q="red mug", sort="rating", page=2)
    assert parse(str(address)) == address
    assert parse("http://www.marlowe.shop/search?sort=rating&page=2&q=red+mug") == address
    assert address.having(page="", sort="") == page_of("marlowe.shop", "search", q="red mug")


def test_no_product_is_in_training_and_in_test_and_the_held_out_shop_in_neither() -> None:
    for domain in (LISTINGS, COLOURED, OPTIONS, TWICE_SOLD):
        train = {listing.product_id for listing in domain.train}
        assert not train & {listing.product_id for listing in LISTINGS.test}
        assert not {x.domain for x in (*domain.train, *domain.test)} & {HELD_OUT_SHOP.domain}


# By taps ---------------------------------------------------------------------------------------


@EVERY_SHOP
def test_a_product_gets_into_the_cart_with_colour_and_quantity(
    phone: Phone, use: Use, shop: Shop
) -> None:
    product = ready(phone, shop)
    find(use, shop, product)
    colour = product.colours[1].title()
    use(Press(colour), Press("Increase quantity"), Press(shop.add_label))
    (item,) = cart_of(phone.facts, shop.domain)
    assert (item.product, item.quantity, item.options[0]) == (product.id, 2, colour)
    use(Press(shop.add_label), Press(shop.cart), Press(f"Fewer {product.name}"))
    assert cart_of(phone.facts, shop.domain)[0].quantity == 3


@EVERY_SHOP
def test_an_order_is_placed_with_the_chosen_delivery_and_the_right_total(
    phone: Phone, use: Use, shop: Shop
) -> None:
    product = ready(phone, shop)
    find(use, shop, product)
    use(Press("Buy now"), Press("Express"), Press("Work"), Press("Place order"))
    order = phone.facts.all(Order)[-1]
    day = phone.facts.one(WebDay).number
    price = shop.offers(day)[product.id].price
    assert order.lines == ((product.id, product.defaults, 1, price),)
    assert (order.delivery, order.place, order.status) == ("Express", "Work", "Processing")
    assert order.total == price + shop.terms(day).express
    use(Press("Cancel order"), Press("Cancel it"))
    assert phone.facts.all(Order)[-1].status == "Cancelled"


def test_a_coupon_lowers_the_total_and_is_used_up(phone: Phone, use: Use) -> None:
    product = ready(phone, MARLOWE)
    find(use, MARLOWE, product)
    use(Press("Add to cart"), Press("Cart"), Fill("Coupon code", "nonsense"), Press("Apply"))
    assert not phone.facts.all(AppliedCoupon)
    use(Fill("Coupon code", "SPRING10"), Press("Apply"), Press("Checkout"))
    use(Press("Pick-up"), Press("Place order"))
    price = MARLOWE.offers(phone.facts.one(WebDay).number)[product.id].price
    assert phone.facts.all(Order)[-1].total == price - price // 10
    assert not phone.facts.all(AppliedCoupon)
    assert not cart_of(phone.facts, MARLOWE.domain)


@EVERY_SHOP
def test_a_wish_moves_to_the_cart(phone: Phone, use: Use, shop: Shop) -> None:
    product = ready(phone, shop)
    find(use, shop, product)
    use(Press("Add to wish list"), Press("Wish list"))
    use(Press(f"Move {product.name} to {shop.cart.lower()}"))
    assert not phone.facts.where(WishItem, lambda wish: wish.shop == shop.domain)
    assert [i.product for i in cart_of(phone.facts, shop.domain)] == [product.id]


def test_what_is_sold_out_cannot_be_bought(phone: Phone, finger: Finger, use: Use) -> None:
    offers = MARLOWE.offers(phone.facts.one(WebDay).number).values()
    product = next(offer.product for offer in offers if not offer.in_stock)
    find(use, MARLOWE, product)
    states = {e.text: e.enabled for e in phone.elements() if e.role == "button"}
    assert "Sold out" in finger.labels
    assert not any(states.get(label, False) for label in ("Add to cart", "Buy now"))


def test_a_filter_counts_once_results_are_shown(phone: Phone, use: Use) -> None:
    use(Fill(MARLOWE.search_label, "mug"), Submit(), Press("Filter"), Press("Under $25"))
    use(Press("Show results"))
    assert parse(str(phone.routes[-1].args[0])).get("price") == "0-25"


def test_banners_come_at_the_advertisement_rate_and_go_when_answered() -> None:
    loud = Drift(popup_rate=0.0, ad_rate=1.0)
    phone = enter(MARLOWE, loud)
    finger = Finger(phone)
    assert "Accept cookies" in finger.labels
    finger.tap("Necessary only")
    assert "Accept cookies" not in finger.labels
    assert phone.facts.all(BannerAnswer)
    assert not any(e.detail.startswith("Sponsored") for e in enter(MARLOWE).elements())
    finger.follow(Solver([Fill(MARLOWE.search_label, "mug"), Submit()]))
    assert any(e.detail.startswith("Sponsored") for e in phone.elements())


def test_saying_no_to_the_newsletter_changes_nothing() -> None:
    always = Drift(popup_rate=0.0, ad_rate=1.0)
    asked = 0
    for seed in range(12):
        phone = enter(MARLOWE, always, seed)
        before = phone.facts.all(Newsletter)
        search = (Fill(MARLOWE.search_label, "lamp"), Submit())
        # whoever asks is refused on the way to the menu
        Finger(phone).follow(Solver([*search, Press("Menu")]))
        asked += any(answer.banner == "newsletter" for answer in phone.facts.all(BannerAnswer))
        assert phone.facts.all(Newsletter) == before
    assert asked


def test_the_price_on_the_page_is_the_price_of_the_day(
    phone: Phone, finger: Finger, use: Use
) -> None:
    product = ready(phone, MARLOWE)
    find(use, MARLOWE, product)
    price = MARLOWE.offers(phone.facts.one(WebDay).number)[product.id].price
    assert dollars(price) in finger.labels
