"""The family and the dialect of docs/add-a-model.md, as one would write them down and use them.

The model is a tiny LLaVA with random weights, where the page has one of seven billion.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from tests.agent.tiny_llava import write_llava
from tests.docs_site.page_blocks import ROOT, blocks

from distrl.records import Unreadable

PAGE = ROOT / "docs/add-a-model.md"
PACKAGE = ROOT / "tests/plugin_package/src/distrl_quiet"


def test_a_model_of_the_pages_family_plays_in_the_pages_dialect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_llava(tmp_path / "models/llava-1.5-7b-hf")
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks(PAGE, "python"):
        if block.mark:
            exec(compile(block.text, str(block), "exec"), module.__dict__)
    decisions = module.__dict__["played"].decisions
    assert decisions
    assert module.__dict__["policy"].prompter.dialect.name == "percent"
    unreadable = [each.action for each in decisions if isinstance(each.action, Unreadable)]
    assert any("such as tap 50 20" in each.reason for each in unreadable)


def test_the_files_of_the_page_are_those_of_the_plugin_package() -> None:
    shown = [block.text for block in blocks(PAGE, "python")]
    for name in ("llava.py", "percent.py"):
        assert (PACKAGE / name).read_text("utf-8") in shown
