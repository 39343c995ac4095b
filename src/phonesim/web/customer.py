"""The owner's initial facts in the shops: some orders, some wishes, a half-filled cart."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from phonesim.facts import Facts
from phonesim.web.basket import (
    DELIVERIES,
    STATUSES,
    CartItem,
    DeliveryPlace,
    Newsletter,
    Order,
    WishItem,
    next_order_number,
)
from phonesim.web.day import WebDay
from phonesim.web.shop import Shop, product_of
from phonesim.web.shops import SHOPS

PLACES = (("Home", "14 Alder Lane, Velmark"), ("Work", "3 Foundry Court, Karrow"),
          ("Aunt Rosa", "27 Pier Street, Ostby"))  # fmt: skip


def furnish_shops(facts: Facts, rng: random.Random, now: datetime) -> None:
    for name, text in PLACES:
        facts.add(DeliveryPlace(name=name, text=text))
    for shop in SHOPS.values():
        facts.add(Newsletter(shop=shop.domain))
        add_order(facts, shop, rng.choice(shop.range), rng, now)
        for product in rng.sample(shop.range, rng.randrange(3)):
            facts.add(WishItem(shop=shop.domain, product=product))
        for product in rng.sample(shop.range, rng.randrange(3)):
            options = product_of(product).defaults
            facts.add(CartItem(shop=shop.domain, product=product, options=options))


def add_order(
    facts: Facts,
    shop: Shop,
    product: int,
    rng: random.Random,
    now: datetime,
    status: str | None = None,
    quantity: int = 1,
) -> Order:
    """Add an order of one product, placed 1 to 39 days ago."""
    price = shop.offers(facts.one(WebDay).number)[product].price
    order = Order(
        shop=shop.domain,
        number=next_order_number(facts) + rng.randrange(40),
        lines=((product, product_of(product).defaults, quantity, price),),
        total=price * quantity + shop.terms(facts.one(WebDay).number).standard,
        delivery=rng.choice(DELIVERIES),
        place=PLACES[0][0],
        status=status or rng.choice(STATUSES),
        placed=(now - timedelta(days=rng.randrange(1, 40))).date(),
    )
    return facts.add(order)
