"""`distrl init DIR`: ask a few questions and write settings to train with.

The proposed answers depend on the machine: on handsets that adb lists and a GPU that torch sees.
Every answer can be given as an option, and `--yes` accepts all proposals, so that scripts and tests
are not prompted. The file has only settings that differ from the defaults;
`distrl train DIR/config.toml --dry-run` shows the rest.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from distrl.cli.doctor import PROBE, ask_torch
from distrl.errors import INSTALL_LEARN, DeviceError, UsageError

Kind = Literal["simulated", "handsets", "emulators"]
KINDS: tuple[Kind, ...] = get_args(Kind)
QWEN = "Qwen/Qwen2.5-VL-3B-Instruct"
SECONDS = 3.0  # to wait for the adb server


def init(
    directory: Annotated[Path, typer.Argument(help="A folder for the settings; made if needed.")],
    kind: Annotated[
        str | None,
        typer.Option(help=f"Kind of phones: {', '.join(KINDS)}. Asked for if left out."),
    ] = None,
    phones: Annotated[
        int | None, typer.Option(min=1, help="Number of phones. Asked for if left out.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="The model: starter, a directory, or an id on the Hugging Face hub. Asked for if "
            "left out."
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.1, help="Minutes of training. Asked for if left out.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing; take the proposed answers.")
    ] = False,
) -> None:
    """Write a settings file after asking about phones, model and time."""
    path = directory / "config.toml"
    if path.exists():
        raise UsageError(f"{path} is there already; give another folder, or change that file")
    if kind is not None:
        _known(kind)  # fail before looking for phones and a GPU, which takes seconds
    found, has_gpu = _handsets(), _has_gpu()
    typer.echo(f"found: {found or 'no'} phones on adb, {'a' if has_gpu else 'no'} GPU")
    proposed_kind = "handsets" if found else "simulated"
    kind = _known(_ask(f"kind of phones ({', '.join(KINDS)})", kind, proposed_kind, yes=yes))
    likely = {"simulated": 32 if has_gpu else 8, "handsets": found or 4, "emulators": 4}[kind]
    likely_minutes = 480.0 if has_gpu else 30.0
    proposed = "starter" if kind == "simulated" and not has_gpu else QWEN
    answers = {
        "devices.count": _number("number of phones", phones, likely, int, yes=yes),
        "agent.model": _ask("model", model, proposed, yes=yes),
        "run.minutes": _number("minutes of training", minutes, likely_minutes, float, yes=yes),
    }
    text = settings_text(kind, answers)  # raises on invalid answers, before anything is written
    directory.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    typer.echo(f"{path}\nnext: distrl doctor {path}, then distrl train {path}")


def settings_text(kind: str, answers: Mapping[str, object]) -> str:
    """Return the settings as TOML: those of a shipped config, overridden by the answers."""
    from distrl.config.config_file import config_path
    from distrl.config.toml_writer import tables_to_toml

    starter = answers["agent.model"] == "starter"
    base = {"handsets": "handsets", "emulators": "emulators"}.get(
        kind, "quick_start" if starter else "qwen2_5_vl_3b_one_gpu"
    )
    tables = tomllib.loads(config_path(base).read_text("utf-8"))
    for name, value in answers.items():
        section, _, key = name.partition(".")
        tables.setdefault(section, {})[key] = value
    head = f"# Made by `distrl init`, from `distrl configs {base}`; settings not here are defaults."
    text = f"{head}\n\n{tables_to_toml(tables)}"
    _check(base, answers)
    return text


def _check(base: str, answers: Mapping[str, object]) -> None:
    """Raise if the settings are invalid; say so if they cannot be checked for lack of torch."""
    try:
        from distrl.config.training_config import load_config
    except ModuleNotFoundError as error:
        typer.echo(f"(not checked: {error.name} is not installed; {INSTALL_LEARN})")
        return
    load_config(Path(base), [f"{name}={value}" for name, value in answers.items()])


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise UsageError(
            f"--kind {kind}: give {', '.join(KINDS)}; for several kinds in one run begin with "
            "`distrl configs mixed`"
        )
    return kind


def _ask(what: str, given: object, proposed: object, *, yes: bool) -> str:
    if given is not None:
        return str(given)
    return str(proposed) if yes else str(typer.prompt(what, default=str(proposed)))


def _number(
    what: str, given: object, proposed: float, number: type[int] | type[float], *, yes: bool
) -> int | float:
    answer = _ask(what, given, proposed, yes=yes)
    try:
        return number(answer)
    except ValueError:
        raise UsageError(f"{what}: {answer!r} is no number") from None


def _has_gpu() -> bool:
    asked = ask_torch(PROBE, os.environ)
    return asked.returncode == 0 and bool(json.loads(asked.stdout.splitlines()[-1])["gpus"])


def _handsets() -> int:
    """Return how many usable devices the running adb server lists; start no server."""
    from distrl.devices.adb.adb import AdbServer

    try:
        return sum(each.usable for each in AdbServer().devices(SECONDS))
    except (DeviceError, OSError):
        return 0
