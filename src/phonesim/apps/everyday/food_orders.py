"""The pages of Food from the checkout to the complaint."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.everyday.meals import (
    COMPLAINTS,
    STATES,
    TIPS,
    BasketLine,
    Complaint,
    FoodAddress,
    FoodOrder,
    basket_cents,
    state_of,
)
from phonesim.contents.everyday.money import Account, can_pay, money, pay
from phonesim.contents.timestamps import full, short
from phonesim.toolkit.boxes import Flow, Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Progress, Text
from phonesim.toolkit.widget import Widget


def _chosen(ui: Ui) -> FoodAddress | None:
    return ui.facts.find(FoodAddress, lambda address: address.chosen)


def checkout(ui: Ui) -> Window:
    address, total = _chosen(ui), basket_cents(ui.facts)

    def place() -> None:
        lines = ui.facts.all(BasketLine)
        if address is None or not lines:
            ui.say("A basket and an address, please")
            return
        if not can_pay(ui.facts, total):
            ui.go("not_paid", total)
            return
        dishes = tuple(line.dish for line in lines for _ in range(line.count))
        name = lines[0].restaurant
        made = ui.facts.add(FoodOrder(0, name, dishes, total, address.label, ui.now))
        pay(ui.facts, name, total, "Food", ui.now)
        ui.facts.remove_where(BasketLine, lambda line: True)
        ui.back(2)
        ui.go("placed", made.id)

    where = f"{address.label}, {address.street}" if address else "No address"
    return ui.page(
        "Checkout",
        [
            ListRow("Bring it to", where, icon="home", on_tap=lambda: ui.go("choose_address")),
            ListRow(
                "Paid from",
                f"Wallet, {money(ui.facts.one(Account).balance_cents)}",
                icon="wallet",
            ),
            Pad(Row([Text("Total", "title"), Text(money(total), "title")], stretch=0), top=16),
        ],
        foot=Pad(Button("Place order", place)),
    )


def choose_address(ui: Ui) -> Window:
    def choose(address: FoodAddress) -> None:
        for other in ui.facts.all(FoodAddress):
            ui.facts.edit(other, chosen=other.id == address.id)
        ui.back()

    rows = [
        ListRow(
            address.label, address.street, radio=address.chosen, on_tap=partial(choose, address)
        )
        for address in ui.facts.all(FoodAddress)
    ]
    add = ("plus", "New address", lambda: ui.go("new_address"))
    return ui.page("Addresses", rows or [Empty("No addresses", "home")], primary=add)


def new_address(ui: Ui) -> Window:
    def save() -> None:
        label, street = ui.text("label").strip(), ui.text("street").strip()
        if not label or not street:
            ui.say("A name and a street, please")
            return
        ui.facts.add(FoodAddress(label=label, street=street))
        ui.back()

    return ui.page(
        "New address",
        [
            Pad(ui.field("label", "Name of the place", icon="tag"), bottom=0),
            Pad(ui.field("street", "Street and number", icon="location")),
        ],
        actions=[IconButton("check", "Save", save)],
    )


def placed(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)
    return ui.page(
        "Thank you",
        [
            Pad(Icon("check_circle", 72, "primary"), top=36),
            Pad(Text("They are cooking", "headline", align="centre")),
            Pad(Text(f"{order.restaurant}, {money(order.cents)}", "body", align="centre")),
        ],
        foot=Pad(Button("Follow order", lambda: ui.swap("order", order_id), "soft")),
    )


def not_paid(ui: Ui, cents: int) -> Window:
    """An error page: the wallet does not hold as much."""
    return ui.page(
        "Not ordered",
        [
            Pad(Icon("error", 72, "danger"), top=36),
            Pad(Text(f"Your wallet does not hold {money(cents)}.", "title", align="centre")),
        ],
        foot=Pad(Button("Go back", ui.back, "soft")),
    )


def orders(ui: Ui) -> Window:
    found = sorted(ui.facts.all(FoodOrder), key=lambda o: (o.time, o.id), reverse=True)
    rows = [
        ListRow(
            order.restaurant,
            f"{', '.join(order.dishes)}\n{state_of(order, ui.now)}",
            trailing=short(order.time, ui.now, ui.settings.use_24_hour),
            icon="bag",
            on_tap=partial(ui.go, "order", order.id),
        )
        for order in found
    ]
    return ui.page("My orders", rows or [Empty("No orders yet", "bag")])


def order(ui: Ui, order_id: int) -> Window:
    """Where an order is, and what can still be done about it."""
    order = ui.facts.get(FoodOrder, order_id)
    state = state_of(order, ui.now)
    share = (STATES.index(state) + 1) / len(STATES) if state in STATES else 0.0
    rows: list[Widget] = [
        Pad(Text(state, "headline"), top=14, bottom=2),
        Pad(Progress(share, "Progress"), top=2),
        Pad(Text(full(order.time, ui.now, ui.settings.use_24_hour), "small", "muted")),
        Heading("Dishes"),
        *(ListRow(dish, icon="food") for dish in order.dishes),
        ListRow("Paid", trailing=money(order.cents), icon="wallet"),
        ListRow("Tip", trailing=money(order.tip_cents), icon="coin"),
        ListRow("Brought to", order.address, icon="home"),
    ]
    buttons: list[Widget] = [
        Button("Give a tip", lambda: ui.go("tip", order_id), "soft", high=36),
        Button("Rate", lambda: ui.go("rate", order_id), "soft", high=36),
        Button("Complain", lambda: ui.go("complain", order_id), "danger", high=36),
    ]
    if state in STATES[:2]:
        cancel = Button(
            "Cancel order", lambda: ui.go("confirm_cancel", order_id), "danger", high=36
        )
        buttons.append(cancel)
    return ui.page(order.restaurant, rows, foot=Pad(Flow(buttons, gap=4), sides=8))


def tip(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)

    def give(cents: int) -> None:
        if cents and can_pay(ui.facts, cents):
            pay(ui.facts, order.restaurant, cents, "Tip", ui.now)
            ui.facts.edit(order, tip_cents=order.tip_cents + cents)
            ui.say("Thank you!")

    return ui.sheet("Tip for the rider", {money(cents): partial(give, cents) for cents in TIPS[1:]})


def rate(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)
    choices = {
        f"{stars} star{'s' * (stars > 1)}": partial(ui.facts.edit, order, stars=stars)
        for stars in range(5, 0, -1)
    }
    return ui.sheet("How was it?", choices)


def complain(ui: Ui, order_id: int) -> Window:
    ui.facts.get(FoodOrder, order_id)
    rows = [
        ListRow(reason, icon="warning", on_tap=partial(ui.go, "complaint", order_id, reason))
        for reason in COMPLAINTS
    ]
    return ui.page("What went wrong?", rows)


def complaint(ui: Ui, order_id: int, reason: str) -> Window:
    def send() -> None:
        text = ui.text("text").strip()
        ui.facts.add(Complaint(order=order_id, reason=reason, text=text))
        ui.back(2)
        ui.go("complained")

    return ui.page(
        "Complaint",
        [
            Pad(Text(reason, "title")),
            Pad(ui.field("text", "Tell us more", lines=4)),
            Pad(Text("We answer within a day.", "small", "muted")),
        ],
        foot=Pad(Button("Send complaint", send)),
    )


def complained(ui: Ui) -> Window:
    return ui.page(
        "Sent",
        [
            Pad(Icon("mail", 72, "primary"), top=40),
            Pad(Text("We are sorry", "headline", align="centre")),
            Pad(Text("Your complaint has reached us.", "body", align="centre")),
        ],
        foot=Pad(Button("Close", ui.back, "soft")),
    )


def confirm_cancel(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)

    def cancel() -> None:
        ui.facts.edit(order, cancelled=True)
        pay(ui.facts, order.restaurant, -order.cents, "Refund", ui.now)

    text = f"You get {money(order.cents)} back."
    return ui.dialog("Cancel this order?", text, {"Keep": None, "Cancel it": cancel})
