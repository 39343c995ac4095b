"""The pages of README and docs/: their code runs or says why not, what they name is there."""

from __future__ import annotations

import dataclasses
import re
import sys
import tomllib
import types
from itertools import pairwise
from pathlib import Path

import pytest
from tests.docs_site.page_blocks import (
    PAGES,
    ROOT,
    SETTINGS,
    SHELLS,
    TYPED,
    Block,
    anchors,
    blocks,
    can_be_given,
    commands,
    links,
    make_targets,
    prose,
    unchecked,
)

from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.run.preflight import check_system
from distrl.errors import InvalidSetting

SECTIONS = {
    ".".join(name.split(".")[:depth])
    for name in SETTINGS
    for depth in range(1, name.count(".") + 1)
}
NAMED = re.compile(rf"^(?:{'|'.join(sorted({each.split('.')[0] for each in SECTIONS}))})(?:\.\w+)+")
ELSE = (  # what goes with tasks without facts, where a page has them elsewhere
    "judge.kind=vlm", "judge.server=http://localhost:8000/v1", "judge.model=a",
    "evaluation.before=0", "evaluation.after=0",
)  # fmt: skip
TYPED_OUT = {"docs/start/handsets.md"}  # test_handset_page types all of it
TABLES = set(TrainingConfig.__dataclass_fields__)


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


def is_run(block: Block) -> bool:
    """Whether this file runs it; a test that a mark names must be there and name the page."""
    if block.mark.startswith("run by "):
        test = ROOT / block.mark.removeprefix("run by ")
        assert block.page.name in test.read_text("utf-8"), f"{block}: {test} does not name it"
        return False
    assert not block.mark or block.mark.startswith("not run: "), f"{block}: {block.mark}"
    return not block.mark


WITH_PYTHON = [page for page in PAGES if any(map(is_run, blocks(page, "python")))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=ids)
def test_python_runs_from_top_to_bottom(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "python"):
        if is_run(block):
            exec(compile(block.text, str(block), "exec"), module.__dict__)


def test_settings_on_pages_can_be_read() -> None:
    for page in PAGES:
        for block in blocks(page, "toml"):
            content = tomllib.loads(block.text)
            if set(content) <= TABLES:
                words = [f"{name}={_word(value)}" for name, value in _leaves(content)]
                judged = {"judge", "environments"} & set(content)
                load_config(None, [*(() if judged else ELSE), *words])


def _leaves(table: dict[str, object], path: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in table.items():
        if isinstance(value, dict) and f"{path}{name}" not in SETTINGS:
            found += _leaves(value, f"{path}{name}.")
        else:
            found.append((f"{path}{name}", value))
    return found


def _word(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = "{each}"' for key, each in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value).replace("'", '"')


def test_every_command_can_be_given() -> None:
    shown = {
        tuple(words): str(block)
        for page in PAGES
        for block in blocks(page, *SHELLS)
        for words in commands(block.text)
    }
    assert len(shown) > 60
    assert [at for words, at in shown.items() if not can_be_given(list(words))] == []


def test_no_page_installs_what_is_on_no_index() -> None:
    """DistRL is not on PyPI: a newcomer installs from a clone, '.[learn]'."""
    for page in PAGES:
        text = "" if page.name == "log.md" else page.read_text("utf-8")
        assert not re.search(r"pip install [^`\n]*['\"]distrl\[", text), page


def test_the_laptop_page_has_a_line_for_a_mac() -> None:
    """Collectors in processes of their own are refused there."""
    lines = [
        words
        for block in blocks(ROOT / "docs/start/laptop.md", *SHELLS)
        for words in commands(block.text)
        if words[:2] == ["train", "quick_start"]
    ]
    chosen = [[each for each in words if "=" in each] for words in lines]
    configs = [load_config(Path("quick_start"), given) for given in chosen]
    assert "" in [_on_a_mac(config) for config in configs]
    assert "need Linux" in _on_a_mac(load_config(Path("quick_start")))


def _on_a_mac(config: TrainingConfig) -> str:
    try:
        return check_system(config, "darwin")
    except InvalidSetting as error:
        return str(error)


def test_every_block_of_a_shell_is_checked_run_or_marked() -> None:
    """`page_blocks` has the rule; what is marked is still looked through for wrong commands."""
    pages = [page for page in PAGES if ids(page) not in TYPED_OUT]
    shown = [block for page in pages for block in blocks(page, *TYPED)]
    assert len(shown) > 40
    assert {str(each): lines for each in shown if is_run(each) and (lines := unchecked(each))} == {}


def test_what_is_typed_works_on_a_mac_and_with_adb_on_no_path() -> None:
    """BSD's sed takes the word after -i as a suffix; the extra android puts adb on no PATH."""
    places = [*PAGES, *(ROOT / "examples").glob("*.py")]
    for place in places:
        text = "" if place.name == "log.md" else place.read_text("utf-8")
        assert not re.search(r"sed -i\s", text), place
        assert not re.search(r"(do|&&|^) adb (connect|devices)", text, re.MULTILINE), place


def test_every_make_target_is_there() -> None:
    targets = make_targets()
    for page in PAGES:
        text = "" if page.name == "log.md" else page.read_text("utf-8")
        named = set(re.findall(r"`make ([a-z-]+)", text))
        assert named <= targets, page


def test_every_setting_that_is_named_is_one() -> None:
    for page in PAGES:
        if page.name != "log.md":  # which has old names
            spans = re.findall(r"`([^`\n]+)`", prose(page))
            named = {match[0] for span in spans if (match := NAMED.match(span))}
            named -= {each for each in named if each.endswith((".toml", ".jsonl", ".json", ".py"))}
            assert named <= SETTINGS | SECTIONS, page


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        for target, anchor in links(page):
            path = (page.parent / target).resolve() if target else page
            assert path.exists(), f"{page}: {target}"
            if anchor and path.suffix == ".md":
                assert anchor in anchors(path), f"{page}: {target}#{anchor}"


def test_lists_are_lists_for_every_reader_of_markdown() -> None:
    """GitHub takes a list right after a paragraph, Python-Markdown wants a blank line."""
    for page in PAGES:
        lines = prose(page).splitlines()
        for before, line in pairwise(lines):
            if re.match(r"(- |1\. )", line) and before.strip():
                kept = re.match(r"(- |\d+\. | |\|)", before)
                assert kept, f"{page}: {line!r} follows {before!r}"


def test_the_log_is_newest_first() -> None:
    text = (ROOT / "docs/log.md").read_text("utf-8")
    dates = re.findall(r"^## (\d{4}-\d\d-\d\d): ", text, re.MULTILINE)
    assert len(dates) == text.count("\n## ")
    assert dates == sorted(dates, reverse=True)


def test_the_app_and_the_task_of_two_pages_work_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The code of add-an-app.md and add-a-task.md, as the modules that they name."""
    [app] = blocks(ROOT / "docs/add-an-app.md", "python")
    task, played = blocks(ROOT / "docs/add-a-task.md", "python")
    for name, block in (("water", app), ("water_tasks", task), ("played", played)):
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(block.text, str(block), "exec"), module.__dict__)
    said = capsys.readouterr().out
    assert said.startswith("100.0%")
    assert " 0.0%" in said


# What these rules would miss ---------------------------------------------------------------------


def test_a_slip_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A, b & `c`\n<!-- not run: why -->\n```sh\ndistrl cluster start --lisen x\n```\n"
    )
    [block] = blocks(page)
    assert (block.mark, block.kind) == ("not run: why", "sh")
    [words] = commands(block.text)
    assert not can_be_given(words)
    assert can_be_given(["cluster", "start", "--listen", "x"])
    for line in (
        "distrl train --set devices.cuont=4", "distrl trian", "make tset", "pip install rays",
        "pip install 'distrl[lern]'", "adb devices", "python -m phonesim paint", "a tree",
    ):  # fmt: skip
        assert unchecked(dataclasses.replace(block, text=line)) == [line]
    fine = "distrl train my.toml --set devices.count=4  # four\nmake test ARGS='-x'\n# no more\n"
    assert unchecked(dataclasses.replace(block, text=fine)) == []
    assert anchors(page) == {"a-b-c"}
    assert NAMED.match("devices.cuont=4")
