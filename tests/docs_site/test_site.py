"""The references are made of the code whole, links out of docs/ lead on, and the site builds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_site.api_reference import GROUPS
from docs_site.command_reference import commands_page
from docs_site.repository_links import ROOT, rewritten, source_page, with_readme
from docs_site.results_reference import figures_page
from docs_site.settings_reference import settings_page

import distrl
from distrl.config.environments import EnvironmentSettings
from distrl.config.training_config import TrainingConfig
from distrl.config.typed_reader import setting_names


def test_every_setting_is_in_the_reference_under_its_section() -> None:
    page, found, section = settings_page(), set(), ""
    for line in page.partition("## Settings of `distrl plan`")[0].splitlines():
        if heading := re.fullmatch(r"## `\[(.*)\]`", line):
            section = heading[1]
        elif row := re.match(r"\| `(\w+)` \|.*\S \|$", line):
            found.add(f"{section}.{row[1]}")
    named = "environments.NAME"  # whose sections are those of a run
    own = {name for name in setting_names(EnvironmentSettings, named) if name.count(".") == 2}
    assert found == set(setting_names(TrainingConfig)) | own


def test_every_command_and_public_name_is_in_its_reference() -> None:
    page = commands_page()
    for name in ("train", "plan", "phone serve", "cluster join", "prepare-emulator", "reproduce"):
        assert f"`distrl {name}`" in page
    assert re.findall(r"^\* `.*\.\.\.$", page, re.MULTILINE) == []  # descriptions cut short
    named = [name for group in GROUPS.values() for name in group]
    assert sorted(named) == sorted(distrl.__all__)


def test_every_file_of_results_is_shown() -> None:
    page = figures_page()
    files = (ROOT / "benchmarks/results").glob("*.json")
    assert all(f"## {file.stem}\n" in page for file in files)


def test_what_a_file_of_results_does_not_say_leaves_no_hole() -> None:
    lines = figures_page().splitlines()
    told = [lines[at + 2] for at, line in enumerate(lines) if line.startswith("## ")]
    assert [line for line in told if re.search(r"``|, ,|· *(,|·|$)|^ *·|Python$", line)] == []


def test_links_out_of_the_docs_lead_to_pages_that_show_files() -> None:
    text = "[a](../src/distrl/records.py) [b](../examples/README.md) [c](api.md) [d](nowhere.md#x)"
    assert rewritten(text, "plugins.md") == (
        "[a](source/src/distrl/records.py.md) [b](examples.md) [c](api.md) [d](nowhere.md#x)"
    )
    inner = rewritten("[e](../../src/distrl/engine/ray)", "cluster/README.md")
    assert inner == "[e](../source/src/distrl/engine/ray/index.md)"
    assert rewritten("[f](docs/api.md#x)", "contributing.md") == "[f](api.md#x)"
    assert "class Trajectory" in source_page("src/distrl/records.py")
    assert "| `connection.py` |" in source_page("src/distrl/engine/ray/cluster")


def test_a_section_of_the_readme_is_put_where_it_is_asked_for() -> None:
    asked = '<!-- the section "Compared with other systems" of the README -->'
    assert "| DistRL | DigiRL | TRL |" in with_readme(asked, "index.md")
    with pytest.raises(ValueError, match="which the README has not"):
        with_readme(asked.replace("other systems", "nobody"), "index.md")


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    words = ["-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    home = (tmp_path / "site/index.html").read_text("utf-8")
    assert "ClawGUI-RL" in home
    assert re.search(r'<script src="(iframe-worker\.js)"', home)  # search from the disk
    loaded = r'<(?:script|img|iframe|link[^>]* rel="stylesheet")[^>]* (?:src|href)="https?:'
    pages = (tmp_path / "site").rglob("*.html")
    assert [page for page in pages if re.search(loaded, page.read_text("utf-8"))] == []
    assert "register_judge" in (tmp_path / "site/reference/api.html").read_text("utf-8")
