"""Check MiniWoB++'s pages: which load, which state their task, and which can be solved.

Every page is started, must say what is to be done and must not be done at once. Then a player
without a model (`instruction_monkey`) tries it with other seeds until the page itself gives a
reward of 1, for a number of episodes. Pages that need more than random play are answered from what
they show (`miniwob_answers`). A page that is never solved may still be fine: it is counted as not
shown. `--only` and `--attempts` try some pages longer; what was solved before is kept. `--count`
plays nothing, and only counts again what was shown before.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from fnmatch import fnmatchcase

from benchmarks.instruction_monkey import InstructionMonkey
from benchmarks.miniwob_answers import ANSWERS, answer
from benchmarks.results_file import RESULTS, update_results
from distrl.config.training_config import load_config
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.engine.browser_wiring import build_pages
from distrl.errors import ActionFailed, DeviceError, JudgeError
from distrl.task_sets.miniwob import MOUSE_PAGES, MiniwobJudge, find_pages

SETTINGS = [
    "devices.kind=browser", "tasks.source=miniwob", "judge.kind=page", "evaluation.before=0",
    "evaluation.after=0",
]  # fmt: skip
ANSWERED_TASKS = 20  # tasks of a page that are answered at most
SOLVED = RESULTS / "miniwob-pages.json"  # page -> number of the solved task, or ANSWERED
ANSWERED = 0  # solved by `miniwob_answers`; tasks of the player are counted from 1


def main() -> None:
    given = _arguments()
    solved: dict[str, int] = json.loads(SOLVED.read_text()) if SOLVED.exists() else {}
    if given.count:
        print(update_results("miniwob", ways(solved), "counted"))
        return
    figures: dict[str, float] = {"pages": 0, "load": 0, "say": 0, "not_done_at_once": 0}
    until = time.monotonic() + given.minutes * 60
    with ExitStack() as opened:
        [device] = build_pages(load_config(None, SETTINGS), ("page",), opened)
        opened.callback(device.close)
        for page in find_pages().step_limits:
            for name, value in begun(device, page).items():
                figures[name] += value
        for page in ANSWERS:
            if page not in solved and fnmatchcase(page, given.only) and answered(device, page):
                solved[page] = ANSWERED
                print(f"{len(solved):4} {page}", flush=True)
        SOLVED.write_text(json.dumps(solved, indent=1) + "\n")
        for attempts in range(1, given.attempts + 1):  # a few on all pages before many on one
            for page in find_pages().step_limits:
                left = page not in solved and fnmatchcase(page, given.only)
                if left and time.monotonic() < until and done(device, page, attempts + given.first):
                    solved[page] = attempts + given.first
                    print(f"{len(solved):4} {page}", flush=True)
            SOLVED.write_text(json.dumps(solved, indent=1) + "\n")
    figures |= {**ways(solved), "need_a_mouse": len(MOUSE_PAGES)}
    print(figures, "\nnot shown:", *sorted(set(find_pages().step_limits) - set(solved)))
    print(update_results("miniwob", figures, "pages"))


def ways(solved: Mapping[str, int]) -> dict[str, int]:
    """Count the pages that gave their reward, by how they were solved."""
    answered = sum(number == ANSWERED for number in solved.values())
    return {
        "done_by_a_player_without_a_model": len(solved) - answered,
        "answered_from_the_page": answered,
    }


def begun(device: BrowserDevice, page: str) -> dict[str, int]:
    """Check that a page loads, states its task, and is not done at the start."""
    judge = MiniwobJudge(device)
    try:
        device.reset(0)
        task = judge.begin(find_pages().task(page, "test", 0))
        device.screen()
        verdict = judge.verdict(None)
    except (DeviceError, JudgeError) as error:
        print(page, error)
        return {"pages": 1}
    return {
        "pages": 1,
        "load": 1,
        "say": int(bool(task.instruction.strip())),
        "not_done_at_once": int(not verdict.success),
    }


def done(device: BrowserDevice, page: str, number: int) -> bool:
    """Play one task of a page; return whether the page gave a reward of 1."""
    judge = MiniwobJudge(device)
    try:
        device.reset(0)
        task = judge.begin(find_pages().task(page, "train", number))
        size = device.viewport.width, device.viewport.height
        monkey = InstructionMonkey(task.instruction, size, task.id)
        for _ in range(min(task.step_limit, 12)):
            try:
                device.perform(monkey.act(device.elements()))
            except ActionFailed:
                continue
            verdict = judge.verdict(None)
            if verdict.success or verdict.reason != "the page is not done":
                return verdict.success
    except (DeviceError, JudgeError) as error:
        print(f"     {page}: {type(error).__name__}: {error}", flush=True)
    return False


def answered(device: BrowserDevice, page: str) -> bool:
    """Answer tasks of a page from what it shows; return whether one gave a reward of 1.

    Some answers fit only some tasks: a point between two pixels cannot be tapped.
    """
    judge = MiniwobJudge(device)
    for number in range(ANSWERED_TASKS):
        device.reset(0)
        judge.begin(find_pages().task(page, "train", number))
        with suppress(DeviceError, ActionFailed, JudgeError):  # the answer does not fit this task
            answer(device, page)
            if judge.verdict(None).success:
                return True
    return False


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="go on after this task")
    parser.add_argument("--only", default="*", help="pages by a pattern")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--count", action="store_true", help="play nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
