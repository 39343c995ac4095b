"""A tree of src/distrl that is drawn in the README is the tree on disk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tree_in(text: str) -> set[str]:
    """The paths in the fenced block that starts with `src/distrl/`; empty where there is none.

    A line is one or several indented names, and then its story: `├── devices/   the phone`.
    Names of folders end in /, those of files in .py; a line with neither only goes on telling.
    """
    block = re.search(r"^```\w*\n(?:.*\n)??(src/distrl/.*?)^```", text, re.DOTALL | re.MULTILINE)
    found, parents = set(), [(-1, "src/distrl/")]
    for line in block[1].splitlines()[1:] if block else []:
        bare = line.lstrip(" │├└─|`-")
        depth = len(line) - len(bare)
        for word in bare.split():
            if not word.endswith(("/", ".py")):
                break
            while parents[-1][0] >= depth:
                parents.pop()
            path = parents[-1][1] + word
            found.add(path)
            if word.endswith("/"):
                parents.append((depth, path))
    return found


def missing(drawn: set[str], root: Path) -> set[str]:
    """What only one of the two has: drawn but not there, or a package that is not drawn."""
    code = (path.parent.relative_to(root) for path in (root / "src/distrl").glob("*/*.py"))
    folders = {f"{folder.as_posix()}/" for folder in code}
    return {path for path in drawn if not (root / path).exists()} | folders - drawn


def test_the_tree_in_the_readme_is_the_tree_on_disk() -> None:
    readme = ROOT / "README.md"
    drawn = tree_in(readme.read_text("utf-8")) if readme.exists() else set()
    if not drawn:
        pytest.skip("the README draws no tree of src/distrl")
    assert not missing(drawn, ROOT)


DRAWING = """A tree:
```text
src/distrl/
├── cli.py  errors.py
├── devices/              what is a phone / what is not
│   ├── simulated/        in memory
│   │   └── phone.py      the phone
│   └── hierarchy.py
│
└── tasks/                what is asked
```
"""


def test_a_tree_is_read_from_a_drawing() -> None:
    assert tree_in(DRAWING) == {
        "src/distrl/cli.py",
        "src/distrl/errors.py",
        "src/distrl/devices/",
        "src/distrl/devices/simulated/",
        "src/distrl/devices/simulated/phone.py",
        "src/distrl/devices/hierarchy.py",
        "src/distrl/tasks/",
    }
    two = "```\nsrc/distrl/\n├── agent/  chat/   policies\n│   └── a.py\n```\n"
    assert tree_in(two) == {f"src/distrl/{name}" for name in ("agent/", "chat/", "chat/a.py")}
    plain = "```\nsrc/distrl/\n  devices/  phones\n    simulated/  one\n  tasks/  asked\n```\n"
    assert tree_in(plain) == {
        f"src/distrl/{name}/" for name in ("devices", "devices/simulated", "tasks")
    }
    assert tree_in("```\nmake test\n```\n") == set()


def test_a_difference_is_seen(tmp_path: Path) -> None:
    for path in tree_in(DRAWING):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".py"):
            (tmp_path / path).touch()
    (tmp_path / "src/distrl/tasks").mkdir()
    assert missing(tree_in(DRAWING), tmp_path) == set()
    (tmp_path / "src/distrl/cli.py").unlink()
    (tmp_path / "src/distrl/attic").mkdir()
    (tmp_path / "src/distrl/attic/old.py").touch()
    assert missing(tree_in(DRAWING), tmp_path) == {"src/distrl/cli.py", "src/distrl/attic/"}
