"""Scripted answers, read from the page, for MiniWoB++ pages that random play does not solve.

They show that such a page gives a reward of 1 for what our device does: taps, drags and typed text
at places that JavaScript of the page names. Nothing is learned from them, and no agent sees them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from distrl.devices.browser.browser_device import BrowserDevice
from distrl.errors import ActionFailed
from distrl.records import Action, DragAndDrop, Enter, Swipe, Tap, TypeText, Wait


@dataclass(frozen=True, slots=True)
class Touch:
    """Tap elements or points [x, y], one after the other."""

    places: str  # JavaScript for one place or a list


@dataclass(frozen=True, slots=True)
class Drag:
    """Drag from the first to the second of two elements or points."""

    places: str


@dataclass(frozen=True, slots=True)
class Write:
    """Type into the field that has the focus."""

    text: str  # JavaScript for the text


Step = Touch | Drag | Write | Action
MAX_SWIPES = 20  # until the place is visible
PLACE = """((found, n) => {
  const listed = Array.isArray(found) && typeof found[0] !== 'number' ? found : [found];
  if (n >= listed.length) return null;
  const each = listed[n];
  if (!(each instanceof Element)) return [each[0] / innerWidth, each[1] / innerHeight, 0];
  const box = each.getBoundingClientRect();
  const scrolled = document.querySelector('#area'), area = scrolled.getBoundingClientRect();
  const x = box.x + Math.min(8, box.width / 2), y = box.y + box.height / 2;
  const [top, bottom] = [area.top, Math.min(area.bottom, innerHeight)];
  const scrolls = scrolled.contains(each) && getComputedStyle(scrolled).overflowY !== 'visible';
  const outside = scrolls ? (y > bottom) - (y < top) : 0;
  return [x / innerWidth, y / innerHeight, outside];
})"""  # near the left end of an element: the month of a date, the hour of a time


def one(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def every(selector: str) -> str:
    return f"[...document.querySelectorAll({json.dumps(selector)})]"


def text(selector: str) -> str:
    return f"{one(selector)}.textContent"


def bold(number: int) -> str:
    """Return JavaScript for the n-th bold text of the instruction."""
    return f"{every('#query .bold, #query b')}[{number}].textContent"


def typed(field: str, answer: str, submit: str = "#subbtn") -> tuple[Step, ...]:
    return Touch(one(field)), Write(answer), Touch(one(submit))


SUBMIT = Touch(one("#subbtn"))
QUERY, MATH = text("#query"), text("#math-problem")
TIME = (
    f"{QUERY}.match(/(\\d+:\\d+)\\s*([AP]M)/).slice(1).join('')"
    ".replace(/^(?=\\d:)/, '0').replace(':', '')"
)
CELL = f"{every('#tab tr')}.find((row) => row.cells[0].textContent === {{}}).cells[1].textContent"
ROOT = (
    f"[...Array(300).keys()].map((n) => n - 150).find((x) => {{"
    f" const [left, right] = {MATH}.split('=');"
    " return eval(left.replace('x', `(${x})`)) === Number(right) })"
)
DIGIT = (
    "PATTERNS[Number(document.querySelector('#query').textContent.match(/\\d/)[0])].flat()"
    f".map((on, n) => on ? {every('#checkboxes input')}[n] : null).filter(Boolean)"
)
SHADES = f"{every('#area span')}.filter((each) => {QUERY}.includes(` ${{each.dataset.color}} `))"
POSTS = (
    f"{every('.media')}.filter((each) => each.querySelector('.username').textContent === {{}})"
    f".map((each) => each.querySelector('.' + {bold(0)}.toLowerCase()))"
)
POST_ALL = POSTS.format(bold(1))
POST_SOME = f"{POSTS.format(bold(2))}.slice(0, Number({bold(1)}))"
NUMBERS = f"{QUERY}.match(/-?\\d+/g).map(Number)"
SLIDE = (
    "((slider, value, least, most) => { const box = slider.getBoundingClientRect();"
    " return [box.x + box.width * (value - least) / (most - least), box.y + box.height / 2] })"
)
# Points of the grid below the instruction, which is 50 pixels high. Circles are 3.5 in radius.
MIDPOINT = "((middle) => [middle.x + 3.75, middle.y + 53.75])(computeMidpoint())"
PERPENDICULAR = f"""((a, v) => {{
  for (let x = 4; x < 140; x++) for (let y = 4; y < 120; y++)
    if (findAngle(a, {{ x: x - 3, y: y - 3 }}, v) === 90) return [x, y + 50] }})
  ({one("#init-black")}.getBBox(), {one("#init-blue")}.getBBox())"""
LINE = f"""((c, flat) => {{
  const box = c.getBoundingClientRect(), x = box.x + 2, y = box.y + 2;
  const area = {one("svg")}.getBoundingClientRect();
  return flat ? [[area.left + 4, y], [area.right - 4, y]]
    : [[x, area.top + 4], [x, area.bottom - 4]] }})
  ({one("#circ")}, {QUERY}.includes('horizontal'))"""
ARC = f"""((c) => {{
  const box = c.getBoundingClientRect(), area = {one("svg")}.getBoundingClientRect();
  const left = box.x - area.x > area.width / 2, top = box.y - area.y > area.height / 2;
  const x = left ? area.left + 3 : area.right - 3, y = top ? area.top + 3 : area.bottom - 3;
  return [[x, y + (top ? 24 : -24)], [x + (left ? 24 : -24), y]] }})({one("#circ")})"""
MOVED = f"""((shape, far) => {{
  const box = shape.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const [dx, dy] = {{ left: [-far, 0], right: [far, 0], up: [0, -far], down: [0, far] }}
    [{QUERY}.match(/left|right|up|down/)[0]];
  return [[x, y + 3], [x + dx, y + 3 + dy]] }})({one(".black-shape")}, 18)"""
SORTED = """((n) => {
  const query = document.querySelector('#query').textContent;
  const shapes = [...document.querySelectorAll(
    '#area_svg rect:not(#shape-container), #area_svg circle, #area_svg polygon')];
  const shape = shapes[n], box = shape.getBoundingClientRect();
  const kind = { rect: 'rectangles', circle: 'circles', polygon: 'triangles' }[shape.tagName];
  const named = query.includes(kind) || query.includes(` ${shape.getAttribute('fill')} `);
  const svg = document.querySelector('#area_svg').getBoundingClientRect();
  const x = box.x + box.width / 2, y = box.y + box.height * 0.6;
  return [[x, y], [svg.x + (named ? 14 : 96) + 10 * n, svg.y + 20 + 4 * n]] })(%d)"""
DATE = f"{QUERY}.match(/(\\d+)\\/(\\d+)\\/(\\d+)/)"
SENDER = "each.querySelector('.email-sender').textContent"
IN_QUERY = f"((name) => {QUERY}.split(/\\W+/).includes(name))"
EMAIL = f"{every('.email-thread')}.find((each) => {IN_QUERY}({SENDER}))"
RECEIVER = (
    f"ui_utils.PEOPLE_NAMES.find((name) => {IN_QUERY}(name)"
    f" && name !== {text('#email .email-sender')})"
)
FORWARD: tuple[Step, ...] = (
    Touch(EMAIL),
    Touch(one("#email .email-forward")),
    Touch(one(".forward-sender")),
    Write(RECEIVER),
    Touch(one("#send-forward")),
)
MENU_NAMED = (
    f"{QUERY}.includes('one of each') ? {QUERY}.split(': ')[1].split(', ').map((name) =>"
    f" {every('.food-item')}.find((each) => each.dataset.item.trim() === name.trim()))"
    f" : Array(Number({QUERY}.match(/\\d/)[0])).fill({every('.food-item')}.find((each) =>"
    f" MENU[each.dataset.id].types.includes({QUERY}.split('are ')[1].trim())))"
)
MOVIE = f"{every('#query b')}.map((each) => each.textContent)"
MOVIE_FIELD = (
    f"{every('#area th')}.find((each) => each.textContent === '%s')"
    ".closest('tr').querySelector('input')"
)
MOVIE_STEPS: tuple[Step, ...] = tuple(
    step
    for number, label in enumerate(("Genre", "Director", "Year"))
    for step in (Touch(MOVIE_FIELD % label), Write(f"{MOVIE}[{number}]"))
)
DELETED = (
    "'rm ' + ((end) => currentFiles.find((each) => end ? each.endsWith(end[0])"
    f" : !each.includes('.')))({QUERY}.match(/\\.[a-z.]+$/))"
)

ANSWERS: dict[str, tuple[Step, ...]] = {
    "choose-date": (
        Touch(one("#datepicker")),
        Touch(f"Array(12 - Number({DATE}[1])).fill({one('.ui-datepicker-prev')})"),
        Touch(f"{every('.ui-datepicker td a')}[Number({DATE}[2]) - 1]"),
        Wait(),  # until the calendar, which covers the button, has faded
        SUBMIT,
    ),
    "click-shades": (Touch(SHADES), Touch(one("#submit"))),
    "copy-paste": typed("#answer-input", f"{one('#to-copy')}.value"),
    "copy-paste-2": typed(
        "#answer-input", f"{every('textarea')}[['1st', '2nd', '3rd'].indexOf({bold(0)})].value"
    ),
    "drag-shapes-2": (*(Drag(SORTED % n) for n in range(5)), SUBMIT),
    "drag-single-shape": (Drag(MOVED), SUBMIT),
    "draw-circle": (Drag(ARC), Touch(one("#controls button"))),
    "draw-line": (Drag(LINE), Touch(one("#controls button"))),
    "email-inbox-forward": FORWARD,
    "email-inbox-forward-nl": FORWARD,
    "email-inbox-forward-nl-turk": FORWARD,
    "enter-date": typed("#tt", f"{bold(0)}.replaceAll('/', '')"),
    "enter-text-2": typed(
        "#tt", f"{QUERY}.includes('upper') ? {bold(0)}.toUpperCase() : {bold(0)}.toLowerCase()"
    ),
    "enter-time": typed("#tt", TIME),
    "find-midpoint": (Touch(MIDPOINT), SUBMIT),
    "find-word": typed(
        "#answer-input",
        f"{text('#area p')}.trim().split(/\\s+/)[parseInt({bold(0)}) - 1]"
        ".replace(/[^a-zA-Z]/g, '')",
    ),
    "form-sequence": (
        Touch(f"{SLIDE}({one('#slider')}, {NUMBERS}[0], -10, 10)"),
        Touch(f"{every('#area input[type=checkbox]')}[{NUMBERS}[1] - 1]"),
        SUBMIT,
    ),
    "form-sequence-2": (
        Touch(f"{every('#area input[type=radio]')}[{NUMBERS}[0] - 1]"),
        Touch(f"{every('#area input[type=text]')}[{NUMBERS}[2] - 1]"),
        Write(f"{NUMBERS}[1]"),
        SUBMIT,
    ),
    "guess-number": typed("#tt", "5"),  # right in one task of ten
    "multi-layouts": (*MOVIE_STEPS, Touch(one("#area .final"))),  # right for one layout of five
    "multi-orderings": (*MOVIE_STEPS, Touch(one("#area .final"))),
    "number-checkboxes": (Touch(DIGIT), SUBMIT),
    "order-food": (
        Touch(f"({MENU_NAMED}).map((each) => each.querySelector('.add'))"),
        Touch(one("#submit-order button")),
    ),
    "read-table": typed("#tt", CELL.format(bold(0))),
    "read-table-2": (
        Touch(one("#tt1")),
        Write(CELL.format(f"{one('#ll1')}.dataset.key")),
        Wait(),  # two taps near each other are a double tap, after which nothing can be typed
        *typed("#tt2", CELL.format(f"{one('#ll2')}.dataset.key")),
    ),
    "right-angle": (Touch(PERPENDICULAR), SUBMIT),
    "scroll-text": typed(
        "#answer-input", f"{one('#text-area')}.value.trim().split(/\\s+/).pop().replace('.', '')"
    ),
    "simple-algebra": typed("#math-answer", ROOT),
    "simple-arithmetic": typed("#math-answer", f"eval({MATH}.replace('x', '*').replace('=', ''))"),
    "social-media-all": (Touch(POST_ALL), Touch(one("#submitRow button"))),
    "social-media-some": (Touch(POST_SOME), Touch(one("#submitRow button"))),
    "terminal": (Touch(one("#terminal")), Write(DELETED), Enter()),
    "text-transform": typed("#tt", text("#captcha")),
    "use-slider-2": (
        *(Touch(f"{SLIDE}({one(f'#slider-{n + 1}')}, {NUMBERS}[{n}], 0, 20)") for n in range(3)),
        SUBMIT,
    ),
    "visual-addition": typed("#math-answer", f"{every('.addition-block')}.length"),
}


def answer(device: BrowserDevice, page: str) -> None:
    """Solve the task of the open page."""
    for step in ANSWERS[page]:
        _do(device, step)


def _do(device: BrowserDevice, step: Step) -> None:
    if isinstance(step, Write):
        device.perform(TypeText(str(device.evaluate(f"String({step.text})"))))
    elif isinstance(step, Drag):
        (x, y), (to_x, to_y) = (_sought(device, step.places, n) for n in range(2))
        device.perform(DragAndDrop(x, y, to_x, to_y))
    elif isinstance(step, Touch):
        number = 0
        while _place(device, step.places, number) is not None:
            device.perform(Tap(*_sought(device, step.places, number)))
            number += 1
    else:
        device.perform(step)


def _sought(device: BrowserDevice, places: str, number: int) -> tuple[float, float]:
    """Swipe over the page's area until the place is visible; return where it is."""
    for _ in range(MAX_SWIPES):
        place = _place(device, places, number)
        if place is None:
            break
        x, y, outside = place
        if not outside:
            return x, y
        device.perform(Swipe(0.4, 0.4, 0.4, 0.4 - 0.15 * outside, 1.0))
    raise ActionFailed(f"{places} is nowhere in sight")


def _place(device: BrowserDevice, places: str, number: int) -> Sequence[float] | None:
    found = device.evaluate(f"{PLACE}({places}, {number})")
    assert found is None or isinstance(found, list)
    return found
