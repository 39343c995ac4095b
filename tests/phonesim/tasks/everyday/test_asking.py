"""Lists, dates and questions to the user; accounts that may be switched off, and that may not."""

from __future__ import annotations

import random

import pytest

from distrl.episodes.demonstrations import demonstrate
from distrl.records import AskUser, Ending
from phonesim.contents.everyday.journeys import Trip
from phonesim.contents.everyday.posts import FeedSettings, Following, Post
from phonesim.contents.everyday.threads import ChatThread
from phonesim.drift import NO_DRIFT, Drift
from phonesim.languages.language import FOLDERS
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task


def begun(task_id: str, drift: Drift = NO_DRIFT) -> tuple[SimulatedDevice, FactJudge]:
    task, _ = load_task(task_id)
    device = SimulatedDevice("asked", drift)
    device.reset(task.seed)
    judge = FactJudge(device)
    judge.begin(task)
    return device, judge


def test_members_may_be_named_in_any_order_and_way_but_all_of_them() -> None:
    device, judge = begun("chat.name_members/train/0")
    group = judge.template.words()["group"]
    names = [*next(t for t in device.phone.facts.all(ChatThread) if t.title == group).members]
    random.Random(1).shuffle(names)
    listed = "\n".join(f"- {name}" for name in names)
    for answer in (", ".join(names), f"{', '.join(names[:-1])} and {names[-1]}", listed):
        assert judge.verdict(answer).success, answer
    for answer in (", ".join(names[1:]), ", ".join([*names, "Me"]), names[0], ""):
        assert not judge.verdict(answer).success, answer


def test_a_date_is_understood_in_many_forms_and_no_other_date() -> None:
    device, judge = begun("travel.ask_day/train/0")
    city = judge.template.words()["city"]
    day = next(t for t in device.phone.facts.all(Trip) if t.destination == city).depart.date()
    for answer in (day.isoformat(), f"{day:%B} {day.day}", f"{day.month}月{day.day}日"):
        assert judge.verdict(answer).success, answer
    for answer in (
        f"{day.month}月{day.day % 28 + 1}日",
        f"{day.year - 1}-{day:%m-%d}",
        str(day.day),
    ):
        assert not judge.verdict(answer).success, answer


def test_the_amount_is_known_to_the_user_alone() -> None:
    device, judge = begun("wallet.send_asked/high_stakes/0")
    task, template = load_task("wallet.send_asked/high_stakes/0")
    amount = template.words()["amount"]
    assert amount[1:] not in task.instruction
    shown = [str(record) for _, records in device.phone.facts.tables() for record in records]
    assert not any(str(template.amount) in each for each in shown)  # type: ignore[attr-defined]
    assert amount in judge.reply("How much do you owe them?")
    assert amount not in judge.reply("Who are they?")


@pytest.mark.parametrize(
    ("speaks", "question", "reply"),
    [
        ("English", "How much is it?", "The amount is "),
        ("German", "Wie viel ist es?", "Betrag: "),
        ("Spanish", "¿Cuánto es?", "cantidad: "),
        ("Chinese", "是多少钱？", "金额："),
        ("German", "What is the amount?", "Betrag: "),
    ],
)
def test_the_user_speaks_as_the_phone_does(speaks: str, question: str, reply: str) -> None:
    device, judge = begun("wallet.send_asked/high_stakes/0", Drift(languages=(speaks,)))
    said = judge.reply(question)
    assert said.startswith(reply)
    amount = judge.template.words()["amount"][1:]
    decimal = device.phone.language.formats.decimal
    assert amount.replace(".", decimal) in said
    assert judge.reply("?") != said


@pytest.mark.parametrize("speaks", FOLDERS)
def test_its_solution_asks_and_is_answered(speaks: str) -> None:
    task, _ = load_task("wallet.send_asked/high_stakes/1")
    played = demonstrate(task, SimulatedDevice("asking", Drift(languages=(speaks,))))
    assert played.ending is Ending.SUCCESS
    asked = [d.action for d in played.decisions if isinstance(d.action, AskUser)]
    assert len(asked) == 1
    assert any(sign.isdigit() for sign in asked[0].reply)


def test_an_account_that_must_stay_on_may_not_be_switched_off() -> None:
    device, judge = begun("feed.keep_account/high_stakes/0")
    facts, person = device.phone.facts, judge.template.words()["person"]
    facts.remove_where(Following, lambda each: each.person == person)
    facts.change(FeedSettings, private=True)
    assert judge.verdict(None).success
    facts.change(FeedSettings, active=False)
    assert "switched off" in judge.verdict(None).reason


def test_an_account_is_switched_off_after_one_post_is_gone_and_no_other() -> None:
    device, judge = begun("feed.switch_off_account/high_stakes/0")
    facts, text = device.phone.facts, judge.template.words()["text"]
    facts.change(FeedSettings, active=False)
    assert not judge.verdict(None).success
    facts.remove_where(Post, lambda post: post.text == text)
    assert judge.verdict(None).success
    facts.remove(facts.all(Post)[-1])
    assert not judge.verdict(None).success
