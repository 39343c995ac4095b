"""The example of docs/add-an-algorithm.md is code that runs, learns and keeps the rules."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.learning.algorithms.algorithm_checks import (
    check_learns,
    check_micro_batches,
    check_padding,
    check_policy_stays,
    check_report,
)

from distrl import plugins
from distrl.errors import InvalidSetting

PAGE = Path(__file__).parents[3] / "docs" / "add-an-algorithm.md"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The page's file, imported."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    path = tmp_path_factory.mktemp("page") / "reinforce.py"
    path.write_text(code, "utf-8")
    spec = importlib.util.spec_from_file_location("reinforce", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reinforce"] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules["reinforce"]


@pytest.mark.seeds(1, 3)
def test_it_learns_from_its_own_data(example: ModuleType, seed: int) -> None:
    check_learns(example.Reinforce, seed, to=0.7)


def test_it_keeps_the_rules_of_every_algorithm(example: ModuleType) -> None:
    check_micro_batches(example.Reinforce)
    check_padding(example.Reinforce)
    check_policy_stays(example.Reinforce)
    check_report(example.Reinforce)


def test_it_is_registered(example: ModuleType) -> None:
    assert "reinforce" in plugins.names("algorithm")


def test_a_setting_out_of_its_range_is_refused(example: ModuleType) -> None:
    with pytest.raises(InvalidSetting, match="discount"):
        example.ReinforceSettings(discount=1.5)
