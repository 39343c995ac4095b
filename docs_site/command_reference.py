"""Generate the page of all commands with their arguments and options, by typer's own generator."""

from __future__ import annotations

from typing import Any

import typer
from typer.cli import get_docs_for_click
from typer.core import TyperGroup
from typer.main import get_command

from distrl.cli.main import app

INTRODUCTION = """# Commands

Made from the code: what `distrl COMMAND --help` says. `python -m distrl` is the same where the
script is not on the PATH, and `distrl --install-completion` completes words in your shell.

"""


def commands_page() -> str:
    command = get_command(app)
    _describe_whole(command)
    written = get_docs_for_click(
        obj=command, ctx=typer.Context(command, info_name="distrl"), indent=1, name="distrl"
    )
    return INTRODUCTION + written


def _describe_whole(command: Any) -> None:
    """Give each command its whole first sentence, which the generator would cut at 45 letters."""
    command.short_help = (command.help or "").partition("\n\n")[0].replace("\n", " ")
    if isinstance(command, TyperGroup):
        for each in command.commands.values():
            _describe_whole(each)
