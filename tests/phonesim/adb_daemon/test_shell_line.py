"""The shell's own reading of a line: quotes, variables, joints, and what it will not read."""

from __future__ import annotations

import contextlib
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonesim.adb_daemon.shell_line import SyntaxRefusal, Unfinished, Variable, read_line


def words(line: str) -> list[str]:
    (pipeline,) = read_line(line)
    (part,) = pipeline.parts
    return ["".join(p for p in word if isinstance(p, str)) for word in part.words]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("input  tap\t1 2", ["input", "tap", "1", "2"]),
        ("echo 'a b' c", ["echo", "a b", "c"]),
        (r"echo a\ b \; \$x", ["echo", "a b", ";", "$x"]),
        (r'echo "a \"b\" \n ;|& $"', ["echo", r'a "b" \n ;|& $']),
        ("echo ''", ["echo", ""]),
        ("echo pre'mid'\"end\"", ["echo", "premidend"]),
        ("echo a # b; c", ["echo", "a"]),
        ("echo a#b", ["echo", "a#b"]),
        ("echo '$x `y` $(z)'", ["echo", "$x `y` $(z)"]),
    ],
)
def test_words(line: str, expected: list[str]) -> None:
    assert words(line) == expected


def test_joints_pipes_and_redirections() -> None:
    first, second, third = read_line("a 1 && b | c 2>/dev/null > /x; d 2>&1")
    assert [p.joint for p in (first, second, third)] == [";", "&&", ";"]
    assert [len(p.parts) for p in (first, second, third)] == [1, 2, 1]
    assert second.parts[1].redirections == [("2>", ("/dev/null",)), (">", ("/x",))]
    assert third.parts[0].errors_too


def test_variables_are_left_for_when_the_command_runs() -> None:
    (pipeline,) = read_line('echo X$?"${HOME}"y')
    assert pipeline.parts[0].words[1] == ("X", Variable("?"), "", Variable("HOME"), "y")


@pytest.mark.parametrize(
    "line",
    [
        "echo $(id)", "echo `id`", 'echo "`id`"', 'echo "$(id)"', "sleep 9 &", "(id)", "a | | b",
        "a &&", "|| a", "cat << EOF", "a >", "a > ; b", "x=${y", "echo ${y:-z}", "f() { id; }",
    ],
)  # fmt: skip
def test_what_could_mean_more_than_it_knows_is_refused(line: str) -> None:
    with pytest.raises(SyntaxRefusal):
        read_line(line)


def test_open_quotes_are_unfinished() -> None:
    for line in ("echo 'a", 'echo "a', "echo a' b"):
        with pytest.raises(Unfinished):
            read_line(line)


@given(st.lists(st.text(min_size=1), min_size=1))
def test_what_python_quotes_is_read_back(texts: list[str]) -> None:
    fit = [text for text in texts if "\x00" not in text] or ["x"]
    assert words(shlex.join(fit)) == fit


@given(st.text(alphabet="ab ;|&<>$(){}`'\"\\\n#*?~!=[]0129-/", max_size=60))
def test_any_line_is_read_or_refused(line: str) -> None:
    with contextlib.suppress(SyntaxRefusal):
        for pipeline in read_line(line):
            assert all(part.words or part.redirections for part in pipeline.parts)
