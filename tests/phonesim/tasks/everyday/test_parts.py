"""Parts are put together as a person would ask, and refuse what does not go together."""

from __future__ import annotations

import dataclasses
from datetime import date, time

import pytest

from phonesim.tasks.everyday import everyday_sources, lookups, sources
from phonesim.tasks.everyday.crossing import CROSSING_TEMPLATES, HOPPING_TEMPLATES
from phonesim.tasks.everyday.parts import Cents, PhoneNumber, Value, compose, says, text_of
from phonesim.tasks.everyday.paying import SendIt
from phonesim.tasks.everyday.planning import BookTomorrow, WakeAtIt
from phonesim.tasks.everyday.telling import TellChat
from phonesim.tasks.everyday.two_hops import TwoHops, compose_two_hops, takes_found


@pytest.mark.parametrize(
    ("value", "good", "bad"),
    [
        (Cents(12_50), "That makes $12.50", "12.05"),
        (PhoneNumber("555 1234"), "5551234", "555 1243"),
        (time(14, 30), "at 2:30 PM", "14:00"),
        (date(2026, 3, 14), "14 March", "15 March"),
        (31, "31 likes", "30 or 31"),
        ("KXB123", "the code is KXB123", "KXB"),
    ],
)
def test_a_value_is_said_in_many_ways_but_no_other_value(value: Value, good: str, bad: str) -> None:
    assert says(good, value)
    assert says(text_of(value), value)
    assert not says(bad, value)


def test_an_act_refuses_a_value_that_it_cannot_use() -> None:
    with pytest.raises(ValueError, match="takes no words"):
        compose(sources.MailedCode, SendIt)


def test_two_parts_cannot_have_one_field() -> None:
    with pytest.raises(ValueError, match="two parts have a field"):
        compose(everyday_sources.BillAmount, TellChat, TellChat)


def test_every_task_has_something_to_vary() -> None:
    """Otherwise its instruction would be the same in training and in testing."""
    for template in (*CROSSING_TEMPLATES, *HOPPING_TEMPLATES):
        assert dataclasses.fields(template), template.name  # type: ignore[arg-type]


def test_every_sentence_is_whole() -> None:
    for template in (*CROSSING_TEMPLATES, *HOPPING_TEMPLATES):
        for phrasing in template.phrasings:
            assert "{it}" not in phrasing, template.name
            assert phrasing[0].isupper(), phrasing
            assert "  " not in phrasing, phrasing


def test_a_lookup_takes_what_was_found_and_an_act_one_of_the_two() -> None:
    with pytest.raises(ValueError, match="takes no person"):
        compose_two_hops(sources.MissedCaller, lookups.HighThere, TellChat)
    with pytest.raises(ValueError, match="takes neither value"):
        compose_two_hops(lookups.MailedCity, lookups.HighThere, WakeAtIt)
    template = compose_two_hops(lookups.MailedCity, lookups.HighThere, BookTomorrow, TellChat)
    assert issubclass(template, TwoHops)
    assert [takes_found(template, act) for act in template.acts] == [True, False]
    assert "to that city in Travel" in template.phrasings[0]
    assert "send that number to" in template.phrasings[0]


def test_every_task_of_two_hops_reads_in_two_apps_and_acts_in_another() -> None:
    for template in HOPPING_TEMPLATES:
        assert issubclass(template, TwoHops)
        read = {template.source.app, template.lookup.app}
        assert len(read) == 2
        assert len(template.apps) >= 3, template.name
