"""Two small lists of instructions, of which the test one leaks into the training one."""

from __future__ import annotations

from pathlib import Path

TRAIN = ("Open the clock", "Open the settings", "Show the notes", "What's the weather?")
TEST = ("open the  Clock.", "Open the calculator")


def aitw_settings(folder: Path) -> list[str]:
    """Settings that train on them; nothing is evaluated, since there are no facts."""
    for name, lines in (("train", TRAIN), ("test", TEST)):
        (folder / f"{name}.txt").write_text("\n".join(lines))
    return [
        "tasks.source=aitw",
        "tasks.templates=[]",
        f"tasks.aitw.train_file={folder / 'train.txt'}",
        f"tasks.aitw.test_file={folder / 'test.txt'}",
        "evaluation.before=0",
        "evaluation.after=0",
    ]
