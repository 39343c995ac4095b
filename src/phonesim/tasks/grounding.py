"""Demonstrations without a template: instructions about whatever is on the screen.

They are generated in hindsight: a short random walk over the phone ("open Settings, then tap
Display, then turn on Night light", "what does it say under Battery?"), then a sentence that
describes all of it or only its last step. This ties words to what they name on every page, far
beyond the phrasings of the templates. The phone is restored after the walk; `Demonstrator` plays
its moves again and records the samples.

Walks do not enter apps and shops that are held out for testing.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from distrl import records as r
from distrl.hierarchy import Element
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fresh_words import made_up
from phonesim.tasks.moves import Fill, GoBack, GoHome, Hold, Move, Open, Press, Say, Toggle
from phonesim.tasks.solver import ScriptLost, Solver
from phonesim.tasks.task_sets import HELD_OUT_APPS
from phonesim.web.shops import HELD_OUT_SHOP

LENGTHS, LENGTH_WEIGHTS = (1, 2, 3, 4), (4, 3, 2, 1)
ATTEMPTS = 5  # a walk may end before its first step, for example on a covered page
MAX_ACTIONS = 12  # of a whole walk
MAX_LABEL = 30  # characters of a label that a sentence names
MAX_ANSWER = 24  # characters of an answer
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
LEAVING = HELD_OUT_APPS | {HELD_OUT_SHOP.name, HELD_OUT_SHOP.domain}
PRICE = re.compile(r"\$(\d+\.\d\d)")
BLANKS = (
    "Oak",
    "Oak tree",
    "Two tall oaks",
    "oak",
    "52",
    "Oak 7",
    "old oak tree",
    "555 0147",
    "Oak, elm",
)

OPEN = ("open {}", "go to {}", "start {}", "launch {}", "open the {} app")
PRESS = ("tap {}", "press {}", "tap on {}", "select {}", "choose {}", "open {}", "go to {}")
PRESS_NTH = ("tap the {} {}", "open the {} {}", "select the {} {}", "choose the {} {}")
HOLD = ("press and hold {}", "long-press {}", "hold {}")
TURN_ON = ("turn on {}", "turn {} on", "switch on {}", "enable {}", "make sure that {} is on")
TURN_OFF = ("turn off {}", "turn {} off", "switch off {}", "disable {}", "make sure that {} is off")
FILL = ("type {text} into {field}", "enter {text} as {field}", "write {text} in the field {field}",
        "fill {field} with {text}", "set {field} to {text}")  # fmt: skip
BACK = ("go back", "press Back", "go back one page")
HOME = ("go to the home screen", "go home", "return to the home screen")
ASK_VALUE = ("What is {}?", "What does it say for {}?", "Tell me {}", "What is shown for {}?")
ASK_DETAIL = ("What does it say under {}?", "What is written below {}?", "What stands under {}?")
ASK_STATE = ("Is {} on?", "Is {} switched on?", "Is {} turned on or not?")
ASK_NTH = ("What is the {} {} called?", "What is the name of the {} {}?", "Read out the {} {}")
ASK_COUNT = ("How many {}s are shown?", "How many {}s do you see?", "Count the {}s on this page")
ASK_CHEAPER = ("Which is cheaper, {} or {}?", "Which costs less: {} or {}?")
ASK_DEARER = ("Which is more expensive, {} or {}?", "Which costs more: {} or {}?")
NOUNS = {
    "Notes": "note", "Mail": "mail", "Messages": "conversation", "Music": "song", "To-do": "task",
    "Calendar": "event", "Contacts": "contact", "Gallery": "photo", "Clock": "alarm",
    "Store": "app", "Maps": "place", "Phone": "call", "Browser": "product",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Walk:
    """An instruction, and the moves that carry it out from the phone's current state."""

    instruction: str
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A move, the words that ask for it, and whether it only navigates (`leads`)."""

    move: Move
    words: str
    leads: bool = False


class Grounding:
    """Generates random walks on one device, and restores the device's state after each."""

    def __init__(self, device: SimulatedDevice, rng: random.Random) -> None:
        self._device = device
        self._rng = rng

    def walk(self) -> Walk | None:
        """Return a walk from the current screen; None if no attempt found anything to ask for."""
        before = self._device.snapshot()
        for _ in range(ATTEMPTS):
            steps = self._explore(self._rng.choices(LENGTHS, LENGTH_WEIGHTS)[0])
            self._device.restore(before)
            if steps:
                return Walk(self._describe(steps), tuple(step.move for step in steps))
        return None

    def _explore(self, length: int) -> list[Step]:
        steps: list[Step] = []
        actions = 0
        while len(steps) < length:
            step = self._step(self._device.elements(), last=len(steps) == length - 1)
            if step is None:
                break
            taken = carry_out(self._device, [step.move], MAX_ACTIONS)
            if taken is None or (actions := actions + taken) > MAX_ACTIONS:
                break
            steps.append(step)
            if isinstance(step.move, Say):
                break
        return steps

    def _step(self, elements: tuple[Element, ...], *, last: bool) -> Step | None:
        """Return a random step that this screen allows, by weight; None if there is none."""
        seen = _reachable(elements)
        makers: list[tuple[float, Callable[[list[Element]], Step | None]]] = [
            (3.0, self._press),
            (2.5, self._toggle),
            (2.0, self._fill),
            (1.5, self._press_nth),
            (0.3, self._hold),
            (0.3, lambda _: Step(GoBack(), self._rng.choice(BACK), leads=True)),
            (0.2, lambda _: Step(GoHome(), self._rng.choice(HOME))),
        ]
        if last:
            makers += [(1.0, self._ask_about), (0.5, self._ask_nth), (0.5, self._ask_count)]
            makers += [(2.0, self._ask_price)]
        while makers:
            [chosen] = self._rng.choices(makers, [weight for weight, _ in makers])
            if (step := chosen[1](seen)) is not None:
                return step
            makers.remove(chosen)
        return None

    def _press(self, seen: list[Element]) -> Step | None:
        found = [e for e in _unique(seen) if e.clickable and e.checked is None]
        found = [e for e in found if e.role not in ("field", "slider")]
        if not found:
            return None
        target = self._rng.choice(found)
        if target.role == "app":
            return Step(Open(target.text), self._say(OPEN, target.text), leads=True)
        return Step(Press(target.text), self._say(PRESS, self._quoted(target.text)), leads=True)

    def _press_nth(self, seen: list[Element]) -> Step | None:
        rows = _rows(seen)
        if len(rows) < 2:
            return None
        place = self._rng.randrange(min(len(rows), len(ORDINALS)))
        nth = sum(row.text == rows[place].text for row in rows[:place])
        words = self._rng.choice(PRESS_NTH).format(ORDINALS[place], self._noun())
        return Step(Press(rows[place].text, role="row", nth=nth), words)

    def _hold(self, seen: list[Element]) -> Step | None:
        found = [e for e in _unique(seen) if e.holdable]
        if not found:
            return None
        target = self._rng.choice(found).text
        return Step(Hold(target), self._say(HOLD, self._quoted(target)))

    def _toggle(self, seen: list[Element]) -> Step | None:
        found = [e for e in _unique(seen) if e.checked is not None and e.clickable and e.enabled]
        if not found:
            return None
        target = self._rng.choice(found)
        on = not target.checked if self._rng.random() < 0.9 else bool(target.checked)
        words = self._say(TURN_ON if on else TURN_OFF, self._quoted(target.text))
        return Step(Toggle(target.text, on), words)

    def _fill(self, seen: list[Element]) -> Step | None:
        found = [e for e in _unique(seen) if e.role == "field" and not e.value and e.clickable]
        if not found:
            return None
        field = self._rng.choice(found).text
        text = made_up(self._rng.choice(BLANKS), self._rng)
        words = self._rng.choice(FILL).format(text=f'"{text}"', field=self._quoted(field))
        return Step(Fill(field, text), words)

    def _ask_about(self, seen: list[Element]) -> Step | None:
        asked: list[tuple[Element, tuple[str, ...], str]]
        asked = [(e, ASK_VALUE, e.value) for e in _unique(seen) if e.role in ("text", "row")]
        asked += [(e, ASK_DETAIL, e.detail) for e in _unique(seen) if e.role == "row"]
        states = {True: "yes", False: "no", None: ""}
        asked += [(e, ASK_STATE, states[e.checked]) for e in _unique(seen)]
        asked = [each for each in asked if 0 < len(each[2]) <= MAX_ANSWER]
        if not asked:
            return None
        element, phrasings, answer = self._rng.choice(asked)
        return Step(Say(answer), self._say(phrasings, self._quoted(element.text)))

    def _ask_nth(self, seen: list[Element]) -> Step | None:
        rows = [row for row in _rows(seen)[: len(ORDINALS)] if len(row.text) <= MAX_ANSWER]
        if len(rows) < 2:
            return None
        place = self._rng.randrange(len(rows))
        words = self._rng.choice(ASK_NTH).format(ORDINALS[place], self._noun())
        return Step(Say(rows[place].text), words)

    def _ask_count(self, seen: list[Element]) -> Step | None:
        rows = _rows(seen)
        if not 1 <= len(rows) <= 9:
            return None
        return Step(Say(str(len(rows))), self._rng.choice(ASK_COUNT).format(self._noun()))

    def _ask_price(self, seen: list[Element]) -> Step | None:
        priced = [(float(m[1]), e.text) for e in _unique(seen) if (m := PRICE.search(e.detail))]
        if len(priced) < 2:
            return None
        (one, first), (two, second) = self._rng.sample(priced, 2)
        if one == two or max(len(first), len(second)) > MAX_ANSWER:
            return None
        cheaper = self._rng.random() < 0.5
        answer = first if (one < two) == cheaper else second
        words = self._rng.choice(ASK_CHEAPER if cheaper else ASK_DEARER)
        return Step(Say(answer), words.format(first, second))

    def _describe(self, steps: list[Step]) -> str:
        """Describe all steps, or sometimes the last one alone if the others only navigate to it."""
        said = [step.words for step in steps]
        *before, _ = steps
        if before and all(step.leads for step in before) and self._rng.random() < 0.5:
            said = said[-1:]
            first = before[0].move
            if isinstance(first, Open) and self._rng.random() < 0.5:
                said = [f"in {first.app}, {_lower(said[0])}"]
        if isinstance(steps[-1].move, Say) and len(said) > 1:
            return f"{_upper(self._joined(said[:-1]))}. {said[-1]}"
        return _upper(self._joined(said))

    def _joined(self, said: list[str]) -> str:
        if len(said) == 2 and self._rng.random() < 0.5:
            return f"{said[0]} and {said[1]}"
        return self._rng.choice((", then ", ", and then ", "; ", ", ")).join(said)

    def _say(self, phrasings: tuple[str, ...], *names: str) -> str:
        return self._rng.choice(phrasings).format(*names)

    def _quoted(self, label: str) -> str:
        return f'"{label}"' if self._rng.random() < 0.3 else label

    def _noun(self) -> str:
        generic = self._rng.choice(("item", "row", "entry", "result"))
        return (
            NOUNS.get(self._device.phone.state.front, generic)
            if self._rng.random() < 0.6
            else generic
        )


def carry_out(device: SimulatedDevice, moves: Iterable[Move], limit: int) -> int | None:
    """Perform moves. Return the number of actions; None if lost or not finished within `limit`."""
    solver = Solver(moves, open_by_name=True)
    for taken in range(limit):
        try:
            action = solver.next(device.elements())
        except ScriptLost:
            return None
        if isinstance(action, r.FINAL_ACTIONS):
            return taken
        device.perform(action)
    return None


def _reachable(elements: tuple[Element, ...]) -> list[Element]:
    """Return what a sentence may name: labelled, visible, not held out, no key and no pop-up."""
    return [
        e
        for e in elements
        if e.window in ("app", "dialog", "shade")
        and 0 < len(e.text) <= MAX_LABEL
        and e.text not in LEAVING
        and e.bounds[3] - e.bounds[1] >= 20
    ]


def _unique(seen: list[Element]) -> Iterator[Element]:
    """Return the elements whose label occurs only once."""
    counts = Counter(e.text for e in seen)
    return (e for e in seen if counts[e.text] == 1)


def _rows(seen: list[Element]) -> list[Element]:
    """Return the clickable rows, in reading order."""
    return sorted(
        (e for e in seen if e.role == "row" and e.clickable),
        key=lambda e: (e.bounds[1], e.bounds[0]),
    )


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
