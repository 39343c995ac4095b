"""The customer's facts in the shops: cart, wish list, orders, coupons, delivery addresses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from phonesim.facts import Facts

OrderLine = tuple[int, tuple[str, ...], int, int]  # product, options, quantity, cents per piece
STATUSES = ("Processing", "Packed", "Shipped", "Out for delivery", "Delivered", "Returned")
DELIVERIES = ("Standard", "Express", "Pick-up")
COUPONS = {
    "SPRING10": 10, "HELLO5": 5, "TREAT15": 15, "SUNNY20": 20, "FRIEND12": 12, "EXTRA8": 8,
    "LUCKY7": 7, "WARM25": 25, "FRESH10": 10, "AUTUMN18": 18, "QUICK6": 6, "MERRY30": 30,
}  # fmt: skip # per cent off


@dataclass(frozen=True, slots=True)
class CartItem:
    """A product in a shop's cart."""

    id: int = 0
    shop: str = ""  # the shop's domain
    product: int = 0
    options: tuple[str, ...] = ()
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class WishItem:
    """A product on a shop's wish list."""

    id: int = 0
    shop: str = ""
    product: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """A placed order. `total` is in cents, delivery included."""

    id: int = 0
    shop: str = ""
    number: int = 0
    lines: tuple[OrderLine, ...] = ()
    total: int = 0
    delivery: str = "Standard"
    place: str = ""
    status: str = "Processing"
    placed: date = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class AppliedCoupon:
    """A coupon that is applied to a shop's cart."""

    id: int = 0
    shop: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class DeliveryPlace:
    """An address that the customer has things delivered to."""

    id: int = 0
    name: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Newsletter:
    """Whether the customer subscribed to a shop's newsletter."""

    id: int = 0
    shop: str = ""
    wanted: bool = False


def cart_of(facts: Facts, shop: str) -> tuple[CartItem, ...]:
    return facts.where(CartItem, lambda item: item.shop == shop)


def wishes_of(facts: Facts, shop: str) -> tuple[WishItem, ...]:
    return facts.where(WishItem, lambda item: item.shop == shop)


def orders_of(facts: Facts, shop: str) -> tuple[Order, ...]:
    """Return the orders in a shop, newest first."""
    return facts.where(Order, lambda order: order.shop == shop)[::-1]


def put_in_cart(
    facts: Facts, shop: str, product: int, options: tuple[str, ...], quantity: int
) -> None:
    """Add a product to the cart, or raise its quantity if it is there with the same options."""
    same = facts.find(
        CartItem, lambda i: (i.shop, i.product, i.options) == (shop, product, options)
    )
    if same:
        facts.edit(same, quantity=same.quantity + quantity)
    else:
        facts.add(CartItem(shop=shop, product=product, options=options, quantity=quantity))


def coupon_of(facts: Facts, shop: str) -> AppliedCoupon | None:
    return facts.find(AppliedCoupon, lambda coupon: coupon.shop == shop)


def discount(facts: Facts, shop: str, cents: int) -> int:
    """Return the cents that the applied coupon takes off a sum."""
    coupon = coupon_of(facts, shop)
    return cents * COUPONS[coupon.code] // 100 if coupon else 0


def next_order_number(facts: Facts) -> int:
    return max((order.number for order in facts.all(Order)), default=48210) + 1
