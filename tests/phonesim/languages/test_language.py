"""Words and formats of each language, and that the catalogues hold together."""

from __future__ import annotations

import ast
import string
import tomllib
from datetime import date, time
from functools import cache
from pathlib import Path

import pytest

import phonesim
from phonesim.languages.language import FOLDERS, language
from phonesim.languages.translations import forms

SOURCE = Path(phonesim.__file__).parent
OTHERS = [name for name in FOLDERS if name != "English"]
SPOKEN = (
    "system_ui/*.py", "apps/settings.py", "apps/settings_pages/*.py", "toolkit/*.py",
    "apps/everyday/*.py", "app.py", "world.py", "everyday_events.py", "contents/everyday/news.py",
)  # fmt: skip


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@cache
def said_by_the_system() -> frozenset[str]:
    """Every text that system, Settings and everyday apps give to `tr` as a literal."""
    found: set[str] = set()
    for pattern in SPOKEN:
        for path in SOURCE.glob(pattern):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and node.args:
                    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    spoken = node.args[: {"tr": 1, "plural": 2}.get(name, 0)]
                    found |= {str(a.value) for a in spoken if isinstance(a, ast.Constant)}
    return frozenset(found)


def test_english_is_the_object_itself() -> None:
    text = "Battery"
    assert language("English").tr(text) is text
    assert language("Finnish").tr(text) is text  # no words: English


def test_words_and_holes() -> None:
    german = language("German")
    assert german.tr("Battery") == "Akku"
    assert german.tr("Connected to {name}", name="Attic") == "Mit Attic verbunden"
    assert german.tr("Nobody translated this") == "Nobody translated this"
    assert german.plural("{count} thing", "{count} things", 1) == "1 thing"
    assert german.plural("{count} thing", "{count} things", 0) == "0 things"
    assert (german.tr("Open"), german.tr("Open|network")) == ("Öffnen", "Offen")
    assert language("English").tr("Open|network") == "Open"


@pytest.mark.parametrize(
    ("name", "number", "money", "percent", "full", "medium", "numeric", "evening"),
    [
        (
            "English", "1,234.5", "-€1,234.50", "60%", "Monday, 5 January", "Mon, 5 Jan",
            "05/01/2026", "7:05 PM",
        ),
        (
            "German", "1.234,5", "-1.234,50 €", "60 %", "Montag, 5. Januar", "Mo., 5. Jan.",
            "05.01.2026", "7:05 PM",
        ),
        (
            "Spanish", "1.234,5", "-1.234,50 €", "60 %", "lunes, 5 de enero", "lun, 5 ene",
            "05/01/2026", "7:05 p. m.",
        ),
        (
            "Chinese", "1,234.5", "-€1,234.50", "60%", "1月5日 星期一", "1月5日 周一",
            "2026/1/5", "下午7:05",
        ),
    ],
)  # fmt: skip
def test_formats(
    name: str,
    number: str,
    money: str,
    percent: str,
    full: str,
    medium: str,
    numeric: str,
    evening: str,
) -> None:
    spoken, day = language(name), date(2026, 1, 5)
    assert spoken.number(1234.5, places=1) == number
    assert spoken.money(-1234.5) == money
    assert spoken.money(-0.001) == spoken.money(0)  # no sign on nothing
    assert spoken.percent(0.6) == percent
    assert [spoken.date(day, style) for style in ("full", "medium", "numeric")] == [
        full,
        medium,
        numeric,
    ]
    assert spoken.time(time(19, 5), use_24_hour=False) == evening
    assert spoken.time(time(19, 5)) == "19:05"


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_that_the_system_says_is_left_untranslated(name: str) -> None:
    said = said_by_the_system()
    assert len(said) > 500  # the search still finds them
    assert said - language(name).words.keys() == set()


@pytest.mark.parametrize("name", OTHERS)
def test_translations_have_the_holes_of_the_english_text(name: str) -> None:
    for key, translated in language(name).words.items():
        assert holes(translated) == holes(key.partition("|")[0]), key


@pytest.mark.parametrize("name", FOLDERS)
def test_no_two_files_of_a_language_disagree(name: str) -> None:
    seen: dict[str, str] = {}
    for path in sorted((SOURCE / "languages" / FOLDERS[name]).glob("*.toml")):
        words = tomllib.loads(path.read_text(encoding="utf-8")).get("words", {})
        for key, word in words.items():
            assert seen.setdefault(key, word) == word, f"{key!r} in {path.name}"


def test_forms_find_filled_texts_too() -> None:
    assert {"Battery", "Akku", "Batería", "电池"} == forms("Battery")
    assert "Passwort leeren" in forms("Clear Password")
    assert "Uhr deinstallieren?" in forms("Uninstall Clock?")
    assert forms("Ada Lovelace") == {"Ada Lovelace"}
    assert {"拒接", "拒绝"} <= forms("Decline")  # a call, a request for money
    assert {"Pay $12.50", "12,50 $ bezahlen", "支付 $12.50"} <= forms("Pay $12.50")
    assert {"7:05 PM – 9:10 PM", "下午7:05 – 下午9:10"} <= forms("7:05 PM – 9:10 PM")
