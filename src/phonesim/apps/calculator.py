"""Calculator: keys, a display with a live preview, and a history. Its arithmetic is exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from phonesim.app import App, Ui, Window
from phonesim.apps.arithmetic import OPERATORS, NotAnExpression, evaluate, shown
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Grid, Pad
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.keypads import Key, Readout
from phonesim.toolkit.rows import Empty, ListRow

KEYS = (
    "C", "(", ")", "÷",
    "7", "8", "9", "×",
    "4", "5", "6", "−",
    "1", "2", "3", "+",
    "%", "0", ".", "⌫",
)  # fmt: skip
LONGEST = 40
KEY = 61  # pixels high
MAX_HISTORY = 40


@dataclass(frozen=True, slots=True)
class Calculation:
    """A line of the history."""

    INCIDENTAL: ClassVar[bool] = True

    id: int = 0
    expression: str = ""
    result: str = ""


class CalculatorApp(App):
    """A page of keys and a page of history. The input is in the page's memory."""

    name = "Calculator"
    icon = "calculator"
    color = (60, 64, 74)
    kinds = (Calculation,)

    def home(self, ui: Ui) -> Window:
        keyed = ui.text("keyed")
        history = IconButton("list", "History", lambda: ui.go("history"))
        keys = [_key(ui, label) for label in _order(ui.version)]
        equals = Key("=", lambda: _reckon(ui), "filled", high=KEY, corner=_corner(ui))
        return ui.page(
            "Calculator",
            [
                Readout(keyed or "0", ui.text("error") or _preview(keyed), high=150),
                Pad(Grid(keys, 4, gap=8), sides=12, top=4, bottom=8),
                Pad(equals, sides=12, top=0, bottom=8),
            ],
            actions=[history],
        )

    def history(self, ui: Ui) -> Window:
        lines = ui.facts.all(Calculation)[-MAX_HISTORY:]
        rows = [_history_row(ui, line) for line in reversed(lines)]
        clear = IconButton("trash", "Clear history", lambda: ui.go("confirm_clear"))
        return ui.page(
            "History",
            rows or [Empty("Nothing reckoned yet", "calculator")],
            actions=[clear] if lines else [],
        )

    def history_menu(self, ui: Ui, line_id: int) -> Window:
        line = ui.facts.get(Calculation, line_id)
        return ui.sheet(line.expression, {"Delete": lambda: ui.facts.remove(line)})

    def confirm_clear(self, ui: Ui) -> Window:
        return ui.dialog(
            "Clear history?",
            "All calculations will be gone.",
            {"Cancel": None, "Clear": lambda: ui.facts.remove_where(Calculation, lambda _: True)},
        )


def _order(version: int) -> list[str]:
    """Return the keys in order; version 3 of the app has the operators on the left."""
    if version != 3:
        return list(KEYS)
    rows = [KEYS[i : i + 4] for i in range(0, len(KEYS), 4)]
    return [key for *others, operator in rows for key in (operator, *others)]


def _corner(ui: Ui) -> int:
    return KEY // 2 if ui.version == 2 else 16


def _key(ui: Ui, label: str) -> Key:
    act: Handler = {"C": lambda: _clear(ui), "⌫": lambda: _erase(ui)}.get(
        label, lambda: _press(ui, label)
    )
    plain = label.isdigit() or label == "."
    icon = "backspace" if label == "⌫" else ""
    return Key(label, act, "plain" if plain else "soft", icon, high=KEY, corner=_corner(ui))


def _show(ui: Ui, keyed: str, *, finished: bool = False) -> None:
    ui.set("keyed", keyed)
    ui.set("finished", finished)
    ui.set("error", "")


def _press(ui: Ui, key: str) -> None:
    """Append a key. After "=", an operator continues from the result; other keys start anew."""
    keyed = ui.text("keyed")
    if ui.get("finished", False) and key not in (*OPERATORS, "%"):
        keyed = ""
    if key in OPERATORS and keyed.endswith(OPERATORS):
        keyed = keyed[:-1]  # a second operator replaces the first
    _show(ui, (keyed + key)[:LONGEST])


def _clear(ui: Ui) -> None:
    _show(ui, "")


def _erase(ui: Ui) -> None:
    _show(ui, ui.text("keyed")[:-1])


def _preview(keyed: str) -> str:
    """Return the result so far, or "" if there is nothing to compute."""
    if not any(operator in keyed[1:] for operator in (*OPERATORS, "%")):
        return ""
    try:
        return shown(evaluate(keyed))
    except (NotAnExpression, ZeroDivisionError):
        return ""


def _reckon(ui: Ui) -> None:
    keyed = ui.text("keyed")
    if not keyed:
        return
    try:
        result = shown(evaluate(keyed))
    except ZeroDivisionError:
        ui.set("error", "Cannot divide by 0")
    except NotAnExpression:
        ui.set("error", "Not a complete expression")
    else:
        ui.facts.add(Calculation(expression=keyed, result=result))
        _show(ui, result, finished=True)


def _history_row(ui: Ui, line: Calculation) -> ListRow:
    def take() -> None:
        ui.back()
        _show(ui, line.result, finished=True)

    return ListRow(
        line.expression,
        f"= {line.result}",
        icon="calculator",
        on_tap=take,
        on_hold=lambda: ui.go("history_menu", line.id),
    )
