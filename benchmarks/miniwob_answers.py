"""What to type on pages of MiniWoB++ that ask for an answer, read from the page itself.

It shows that such a page gives a reward of 1 for the right answer, typed by our device: a player
that taps at random does not find it. Nothing is learned from it, and no agent sees it.
"""

from __future__ import annotations

from distrl.devices.browser.browser_device import BrowserDevice
from distrl.records import Action, Tap, TypeText

SUBMIT = "#subbtn"
TEXT = "document.querySelector('{}').textContent"
MATH, BOLD = TEXT.format("#math-problem"), TEXT.format("#query .bold")
NUMBER = f"parseInt({BOLD})"  # of 2nd and the like
TIME = (
    f"{TEXT.format('#query')}.match(/(\\d+:\\d+)\\s*([AP]M)/).slice(1).join('')"
    ".replace(/^(?=\\d:)/, '0').replace(':', '')"
)
CELL = (
    "[...document.querySelectorAll('#tab tr')]"
    f".find((row) => row.cells[0].textContent === {BOLD}).cells[1].textContent"
)
ROOT = (
    f"[...Array(300).keys()].map((n) => n - 150).find((x) => {{"
    f" const [left, right] = {MATH}.split('=');"
    " return eval(left.replace('x', `(${x})`)) === Number(right) })"
)
ANSWERS = {  # page: the field, and an expression for what belongs into it
    "copy-paste": ("#answer-input", "document.querySelector('#to-copy').value"),
    "copy-paste-2": (
        "#answer-input",
        f"document.querySelectorAll('textarea')[['1st', '2nd', '3rd'].indexOf({BOLD})].value",
    ),
    "enter-date": ("#tt", f"{BOLD}.replaceAll('/', '')"),
    "enter-time": ("#tt", TIME),
    "enter-text-2": (
        "#tt",
        f"{TEXT.format('#query')}.includes('upper') ? {BOLD}.toUpperCase() : {BOLD}.toLowerCase()",
    ),
    "find-word": (
        "#answer-input",
        f"{TEXT.format('#area p')}.trim().split(/\\s+/)[{NUMBER} - 1].replace(/[^a-zA-Z]/g, '')",
    ),
    "read-table": ("#tt", CELL),
    "simple-algebra": ("#math-answer", ROOT),
    "simple-arithmetic": ("#math-answer", f"eval({MATH}.replace('x', '*').replace('=', ''))"),
    "text-transform": ("#tt", TEXT.format("#captcha")),
    "visual-addition": ("#math-answer", "document.querySelectorAll('.addition-block').length"),
}


def answer(device: BrowserDevice, page: str) -> list[Action]:
    """The actions that answer the page that is open."""
    field, expression = ANSWERS[page]
    said = device.evaluate(f"String({expression})")
    return [_tap(device, field), TypeText(str(said)), _tap(device, SUBMIT)]


def _tap(device: BrowserDevice, selector: str) -> Tap:
    """Near its left end: the month of a date, the hour of a time."""
    at = device.evaluate(
        f"(({{ x, y, height }}) => [(x + 8) / innerWidth, (y + height / 2) / innerHeight])"
        f"(document.querySelector('{selector}').getBoundingClientRect())"
    )
    assert isinstance(at, list)
    return Tap(*at)
