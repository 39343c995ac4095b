"""Every setting declares what it may be, and what no longer is a setting says so."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from distrl.bounds import Bounds, Fixed, Meaning, check_bounds, description
from distrl.config.renamed import REMOVED, RENAMED, RENAMED_VALUES
from distrl.config.toml_writer import to_toml
from distrl.config.training_config import TrainingConfig, load_config
from distrl.config.typed_reader import section_of, setting_names, settings_of
from distrl.errors import InvalidSetting
from distrl.planning.plan_settings import PlanSettings

MAX_SETTINGS = 221  # 220 before rehearsal, 219 before the folder of MobileGym


def declarations(kind: type, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, hint in settings_of(kind).items():
        section = section_of(hint)
        if section is None:
            yield f"{path}{name}", hint
        else:
            yield from declarations(section, f"{path}{name}.")


def test_every_setting_has_a_range_or_choices_or_a_meaning() -> None:
    assert [name for name, hint in declarations(TrainingConfig) if not description(hint)] == []


def test_every_number_has_a_range_and_a_unit() -> None:
    for name, hint in declarations(TrainingConfig):
        if re.search(r"\b(int|float)\b", str(hint)) and "Mapping" not in str(hint):
            bounds = [each for each in hint.__metadata__ if isinstance(each, Bounds)]
            assert (bounds and bounds[0].unit) or "Region" in str(hint) or "tuple" in str(hint), (
                name
            )


def test_settings_stay_few() -> None:
    assert len(list(setting_names(TrainingConfig))) <= MAX_SETTINGS


def test_a_dry_run_describes_every_setting() -> None:
    lines = to_toml(load_config(None, ["agent.policy.lora.rank=4"])).splitlines()
    settings = [line for line in lines if " = " in line]
    assert len(settings) == len(list(setting_names(TrainingConfig)))
    assert [line for line in settings if "  # " not in line] == []


def test_what_a_plan_can_say_is_read_by_the_same_names() -> None:
    assert "phones.count" in list(setting_names(PlanSettings))


# Declared values ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Sampling:
    temperature: Annotated[float, Bounds(0.0, 2.0, "kelvin", open=True)] = 1.0
    limit: Annotated[int | None, Bounds(1, unit="draws")] = None
    kind: Literal["greedy", "free"] | None = "free"
    name: Annotated[str, Meaning("lower-case letters", "[a-z]+")] = "a"
    rates: tuple[Annotated[float, Bounds(0.0, 1.0)], ...] = ()
    inner: Annotated[int, Bounds(0, 3), Fixed("it never changes")] = 0

    def __post_init__(self) -> None:
        check_bounds(self)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"temperature": 0.0}, "Sampling.temperature=0.0; give a number, above 0, up to 2 kelvin"),
        ({"temperature": float("nan")}, "Sampling.temperature=nan; give a number, above 0"),
        ({"limit": 0}, 'Sampling.limit=0; give a whole number or "none", 1 or more draws'),
        ({"kind": "wild"}, "Sampling.kind='wild'; give greedy, free or \"none\""),
        ({"name": "A"}, "Sampling.name='A'; give a text: lower-case letters"),
        ({"rates": (0.5, 2.0)}, "Sampling.rates=[0.5, 2.0]; give a list, each a number, 0 to 1"),
        ({"inner": 4}, "Sampling.inner=4; give a whole number, 0 to 3"),
    ],
)
def test_a_value_out_of_what_is_declared_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        Sampling(**values)
    assert str(refused.value).startswith(said)


def test_values_within_what_is_declared_are_taken() -> None:
    Sampling(2.0, 10**9, None, "abc", (0.0, 1.0), 3)
    assert list(setting_names(Sampling)) == ["temperature", "limit", "kind", "name", "rates"]


# Old names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (
            "agent.policy.sampling.most_new_tokens=8",
            (
                "agent.policy.sampling.most_new_tokens was renamed to "
                "agent.policy.sampling.max_new_tokens (--set"
            ),
        ),
        ("learning.algorithm=impala", "learning.algorithm='impala' was renamed to 'vtrace' (--set"),
        ("learning.impala.discount=0.9", "learning.impala was renamed to learning.vtrace (--set"),
        (
            "learning.impala.trace=0.9",
            "learning.impala.trace was renamed to learning.vtrace.vtrace_lambda (--set",
        ),
        (
            "judge.readings=2",
            "judge.readings is no longer a setting: an answer that cannot be read",
        ),
        (
            "devices.drift.themes=true",
            "devices.drift is no longer a setting: devices.drift is true",
        ),
        ("agent.policy.seed=2", "agent.policy.seed is no longer a setting: adapters, critic and"),
        (
            "devices.faults.page_takes.median=2.0",
            "devices.faults.page_takes is no longer a setting: waits of the simulated phone",
        ),
    ],
)
def test_an_old_name_is_refused_with_what_to_write_instead(word: str, said: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        load_config(None, [word])
    assert str(refused.value).startswith(said)


def test_the_config_of_an_old_run_is_refused_with_all_its_old_names_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        '[learning]\nalgorithm = "group_relative"\n[learning.group_relative]\nepochs = 2\n'
        "[judge]\nmost_waiting = 8\nmost_cost = inf\n[devices.drift]\nthemes = true\n"
        "layouts = true\n"
    )
    with pytest.raises(InvalidSetting) as refused:
        load_config(path)
    assert str(refused.value) == (
        "learning.algorithm='group_relative' was renamed to 'grpo'; learning.group_relative was "
        "renamed to learning.grpo; judge.most_waiting was renamed to judge.max_waiting; "
        "judge.most_cost was renamed to judge.max_cost; devices.drift is no longer a setting: "
        f"devices.drift is true or false now, for all differences at once (in {path})"
    )


def test_the_table_of_old_names_has_only_old_names_and_leads_to_new_ones() -> None:
    names = set(setting_names(TrainingConfig))
    sections = {name.rpartition(".")[0] for name in names}
    assert not (names | sections) & (set(RENAMED) | (set(REMOVED) - {"devices.drift"}))
    assert set(RENAMED.values()) <= names | sections
    for (setting, _), new in RENAMED_VALUES.items():
        assert load_config(None, [f"{setting}={new}"]) != TrainingConfig()


def test_phones_differ_or_are_all_alike() -> None:
    assert load_config(None, ["devices.drift=false"]).devices.phone_drift.popup_rate == 0.0
    assert load_config().devices.phone_drift.popup_rate > 0.0
