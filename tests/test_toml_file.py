"""Broken TOML is a ValueError that says why, soon, however large or deep it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.toml_file import MAX_BYTES, MAX_DEPTH, loads_toml, read_toml_file

UNREASONABLE: dict[str, str | bytes] = {
    "brackets": "a = " + "[" * 100_000,
    "lists within what the parser can take": "a = " + "[" * 200 + "]" * 200,
    "tables in tables": "a = " + "{a = " * 50_000,
    "a long key": "a" + ".a" * 400_000 + " = 1",
    "a long key with spaces and quotes": "a" + ' . "b c"' * 1_000 + " = 1",
    "a long header": "[a" + ".a" * 400_000 + "]",
    "headers that add up": "[a" + ".a" * 20 + "]\n" + "b" + ".b" * 20 + " = 1",
    "digits": "a = " + "1" * 5_000,
    "bytes": "# " + "a" * MAX_BYTES,
    "no UTF-8": b"a = '\xff'",
    "no TOML": "a = ",
}


@pytest.mark.parametrize("name", UNREASONABLE)
def test_what_is_unreasonable_is_refused(tmp_path: Path, name: str) -> None:
    content = UNREASONABLE[name]
    path = tmp_path / "a.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=r"."):
        read_toml_file(path)


def test_what_people_write_is_read() -> None:
    deepest = "a" + ".a" * (MAX_DEPTH - 2) + " = 1"
    words = f'said = "{"Tap. " * 20}{"word and word. " * 100}{"." * 1000}"'
    floats = f"boxes = [{', '.join(['0.25'] * 1000)}]"
    tables = loads_toml(f"{words}\n{floats}\n{deepest}")
    assert set(tables) == {"said", "boxes", "a"}
    assert len(tables["boxes"]) == 1000
