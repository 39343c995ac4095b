"""`distrl model get`: make a model directory from pretrained weights in an installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from distrl.errors import UsageError

model_app = typer.Typer(no_args_is_help=True, help="Get pretrained models.")
MODELS = ("smollm2",)


@model_app.callback()
def models() -> None:
    """Commands about models."""


@model_app.command()
def get(
    name: Annotated[str, typer.Argument(help=f"Name of the model: {', '.join(MODELS)}.")],
    directory: Annotated[
        Path | None, typer.Argument(help="Directory for it; models/NAME by default.")
    ] = None,
    gguf: Annotated[
        Path | None, typer.Option(help="The GGUF file itself, where the package is not installed.")
    ] = None,
) -> None:
    """Make a Hugging Face directory of a pretrained model, from an installed package."""
    if name not in MODELS:
        raise UsageError(f"there is no model {name!r} to get, only {', '.join(MODELS)}")
    from distrl.agent.smollm import make_smollm2

    target = directory or Path("models") / name
    make_smollm2(target, gguf)
    console = Console()
    console.print(f"{target}: SmolLM2-135M-Instruct, which reads the elements of a screen")
    console.print(f"teach it: distrl imitate --model {target} --out runs/taught", highlight=False)
