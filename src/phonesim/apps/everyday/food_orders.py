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
            ui.say(ui.tr("A basket and an address, please"))
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

    paid_from = money(ui.facts.one(Account).balance_cents, ui.language)
    where = f"{address.label}, {address.street}" if address else ui.tr("No address")
    return ui.page(
        ui.tr("Checkout"),
        [
            ListRow(
                ui.tr("Bring it to"), where, icon="home", on_tap=lambda: ui.go("choose_address")
            ),
            ListRow(
                ui.tr("Paid from"),
                ui.tr("Wallet, {amount}", amount=paid_from),
                icon="wallet",
            ),
            Pad(
                Row(
                    [Text(ui.tr("Total"), "title"), Text(money(total, ui.language), "title")],
                    stretch=0,
                ),
                top=16,
            ),
        ],
        foot=Pad(Button(ui.tr("Place order"), place)),
    )


def choose_address(ui: Ui) -> Window:
    def choose(address: FoodAddress) -> None:
        for other in ui.facts.all(FoodAddress):
            ui.facts.edit(other, chosen=other.id == address.id)
        ui.back()

    rows = [
        ListRow(
            address.label,
            address.street,
            radio=address.chosen,
            on_tap=partial(choose, address),
        )
        for address in ui.facts.all(FoodAddress)
    ]
    add = ("plus", ui.tr("New address"), lambda: ui.go("new_address"))
    return ui.page(ui.tr("Addresses"), rows or [Empty(ui.tr("No addresses"), "home")], primary=add)


def new_address(ui: Ui) -> Window:
    def save() -> None:
        label, street = ui.text("label").strip(), ui.text("street").strip()
        if not label or not street:
            ui.say(ui.tr("A name and a street, please"))
            return
        ui.facts.add(FoodAddress(label=label, street=street))
        ui.back()

    return ui.page(
        ui.tr("New address"),
        [
            Pad(ui.field("label", ui.tr("Name of the place"), icon="tag"), bottom=0),
            Pad(ui.field("street", ui.tr("Street and number"), icon="location")),
        ],
        actions=[IconButton("check", ui.tr("Save"), save)],
    )


def placed(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)
    cost = money(order.cents, ui.language)
    return ui.page(
        ui.tr("Thank you"),
        [
            Pad(Icon("check_circle", 72, "primary"), top=36),
            Pad(Text(ui.tr("They are cooking"), "headline", align="centre")),
            Pad(Text(f"{order.restaurant}, {cost}", "body", align="centre")),
        ],
        foot=Pad(Button(ui.tr("Follow order"), lambda: ui.swap("order", order_id), "soft")),
    )


def not_paid(ui: Ui, cents: int) -> Window:
    """An error page: the wallet's balance is too low."""
    amount = money(cents, ui.language)
    lacking = ui.tr("Your wallet does not hold {amount}.", amount=amount)
    return ui.page(
        ui.tr("Not ordered"),
        [
            Pad(Icon("error", 72, "danger"), top=36),
            Pad(Text(lacking, "title", align="centre")),
        ],
        foot=Pad(Button(ui.tr("Go back"), ui.back, "soft")),
    )


def orders(ui: Ui) -> Window:
    found = sorted(ui.facts.all(FoodOrder), key=lambda o: (o.time, o.id), reverse=True)
    rows = [
        ListRow(
            order.restaurant,
            f"{', '.join(order.dishes)}\n{ui.tr(state_of(order, ui.now))}",
            trailing=short(order.time, ui.now, ui.settings.use_24_hour, ui.language),
            picture=f"dish:{order.dishes[0]}" if order.dishes else "",
            on_tap=partial(ui.go, "order", order.id),
        )
        for order in found
    ]
    return ui.page(ui.tr("My orders"), rows or [Empty(ui.tr("No orders yet"), "bag")])


def order(ui: Ui, order_id: int) -> Window:
    """The state of an order, and what can still be done about it."""
    order = ui.facts.get(FoodOrder, order_id)
    state = state_of(order, ui.now)
    share = (STATES.index(state) + 1) / len(STATES) if state in STATES else 0.0
    rows: list[Widget] = [
        Pad(Text(ui.tr(state), "headline"), top=14, bottom=2),
        Pad(Progress(share, ui.tr("Progress")), top=2),
        Pad(Text(full(order.time, ui.now, ui.settings.use_24_hour, ui.language), "small", "muted")),
        Heading(ui.tr("Dishes")),
        *(ListRow(dish, picture=f"dish:{dish}") for dish in order.dishes),
        ListRow(ui.tr("Paid"), trailing=money(order.cents, ui.language), icon="wallet"),
        ListRow(ui.tr("Tip"), trailing=money(order.tip_cents, ui.language), icon="coin"),
        ListRow(ui.tr("Brought to"), order.address, icon="home"),
    ]
    buttons: list[Widget] = [
        Button(ui.tr("Give a tip"), lambda: ui.go("tip", order_id), "soft", high=36),
        Button(ui.tr("Rate"), lambda: ui.go("rate", order_id), "soft", high=36),
        Button(ui.tr("Complain"), lambda: ui.go("complain", order_id), "danger", high=36),
    ]
    if state in STATES[:2]:
        cancel = Button(
            ui.tr("Cancel order"), lambda: ui.go("confirm_cancel", order_id), "danger", high=36
        )
        buttons.append(cancel)
    return ui.page(order.restaurant, rows, foot=Pad(Flow(buttons, gap=4), sides=8))


def tip(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)

    def give(cents: int) -> None:
        if cents and can_pay(ui.facts, cents):
            pay(ui.facts, order.restaurant, cents, "Tip", ui.now)
            ui.facts.edit(order, tip_cents=order.tip_cents + cents)
            ui.say(ui.tr("Thank you!"))

    choices = {money(cents, ui.language): partial(give, cents) for cents in TIPS[1:]}
    return ui.sheet(ui.tr("Tip for the rider"), choices)


def rate(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)
    choices = {
        ui.language.plural("{count} star", "{count} stars", stars): partial(
            ui.facts.edit, order, stars=stars
        )
        for stars in range(5, 0, -1)
    }
    return ui.sheet(ui.tr("How was it?"), choices)


def complain(ui: Ui, order_id: int) -> Window:
    ui.facts.get(FoodOrder, order_id)
    rows = [
        ListRow(ui.tr(reason), icon="warning", on_tap=partial(ui.go, "complaint", order_id, reason))
        for reason in COMPLAINTS
    ]
    return ui.page(ui.tr("What went wrong?"), rows)


def complaint(ui: Ui, order_id: int, reason: str) -> Window:
    def send() -> None:
        text = ui.text("text").strip()
        ui.facts.add(Complaint(order=order_id, reason=reason, text=text))
        ui.back(2)
        ui.go("complained")

    return ui.page(
        ui.tr("Complaint"),
        [
            Pad(Text(ui.tr(reason), "title")),
            Pad(ui.field("text", ui.tr("Tell us more"), lines=4)),
            Pad(Text(ui.tr("We answer within a day."), "small", "muted")),
        ],
        foot=Pad(Button(ui.tr("Send complaint"), send)),
    )


def complained(ui: Ui) -> Window:
    return ui.page(
        ui.tr("Sent"),
        [
            Pad(Icon("mail", 72, "primary"), top=40),
            Pad(Text(ui.tr("We are sorry"), "headline", align="centre")),
            Pad(Text(ui.tr("Your complaint has reached us."), "body", align="centre")),
        ],
        foot=Pad(Button(ui.tr("Close"), ui.back, "soft")),
    )


def complaints(ui: Ui) -> Window:
    """A list of complaints; a tap opens the order."""
    restaurants = {order.id: order.restaurant for order in ui.facts.all(FoodOrder)}
    rows = [
        ListRow(
            restaurants[each.order],
            f"{ui.tr(each.reason)}\n{each.text}".strip(),
            icon="warning",
            on_tap=partial(ui.go, "order", each.order),
        )
        for each in reversed(ui.facts.all(Complaint))
        if each.order in restaurants
    ]
    return ui.page(
        ui.tr("My complaints"), rows or [Empty(ui.tr("Nothing to complain about"), "smile")]
    )


def confirm_cancel(ui: Ui, order_id: int) -> Window:
    order = ui.facts.get(FoodOrder, order_id)

    def cancel() -> None:
        ui.facts.edit(order, cancelled=True)
        pay(ui.facts, order.restaurant, -order.cents, "Refund", ui.now)

    text = ui.tr("You get {amount} back.", amount=money(order.cents, ui.language))
    return ui.dialog(
        ui.tr("Cancel this order?"), text, {ui.tr("Keep"): None, ui.tr("Cancel it"): cancel}
    )
