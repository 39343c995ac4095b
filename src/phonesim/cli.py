"""The command `python -m phonesim …`, also `distrl phone …`: draw, read, serve; list the tasks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from distrl.errors import DistrlError, UsageError, storage_error
from distrl.output_file import prepare_output_file
from distrl.standard_streams import open_streams

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

PALETTES = (".png", ".gif")  # formats that keep a palette of 256 colours

phone_app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The simulated phone: draw its screens, read them, serve it to adb.",
)

Spoken = Annotated[str, typer.Option("--language", help="English, German, Spanish or Chinese.")]
Seed = Annotated[int, typer.Option(help="Seed of the phone: its look and its contents.")]
AppName = Annotated[str, typer.Option("--app", help="Name of the app; default: the home screen.")]
Taps = Annotated[
    list[str] | None,
    typer.Option("--tap", help="Label to tap, after those before; may be repeated."),
]
Screen = Annotated[str, typer.Option(help="Width x height @ density: 1080x2400@3.")]
Out = Annotated[Path, typer.Option(help="The picture to write.")]


def main() -> None:
    """Run the command; print a `DistrlError` in one line, without a traceback."""
    open_streams()
    try:
        phone_app(prog_name="python -m phonesim")
    except DistrlError as error:
        line = f"[bold red]{type(error).__name__}[/]: {escape(str(error))}"
        Console(stderr=True).print(line, highlight=False)
        sys.exit(2)


@phone_app.command()
def draw(
    app_name: AppName = "",
    taps: Taps = None,
    seed: Seed = 0,
    screen: Screen = "360x720@1",
    language: Spoken = "English",
    out: Out = Path("out/screen.png"),
) -> None:
    """Draw any screen: the home screen, an app, and what taps on labels lead to."""
    from phonesim.display import read_display
    from phonesim.pictures import draw_screen

    _write(out, draw_screen(app_name, seed, taps or [], read_display(screen), language))


@phone_app.command()
def read(
    app_name: AppName = "",
    taps: Taps = None,
    seed: Seed = 0,
    xml: Annotated[bool, typer.Option("--xml", help="As uiautomator would dump it.")] = False,
) -> None:
    """List the elements of a screen: role, text, bounds and state of each."""
    from phonesim.hierarchy_xml import uiautomator_xml
    from phonesim.pictures import phone_at

    elements = phone_at(app_name, seed, taps or []).elements()
    if xml:
        typer.echo(uiautomator_xml(elements, f"org.distrl.{app_name.casefold() or 'launcher'}"))
        return
    table = Table("role", "text", "detail", "value", "bounds", "state", box=None)
    for element in elements:
        flags = {
            "clickable": element.clickable,
            "checked": element.checked,
            "selected": element.selected,
            "focused": element.focused,
            "disabled": not element.enabled,
        }
        state = " ".join(name for name, on in flags.items() if on)
        texts = (element.text, element.detail, element.value)
        table.add_row(element.role, *texts, str(element.bounds), state)
    Console().print(table, highlight=False)


@phone_app.command()
def sheet(
    what: Annotated[
        str,
        typer.Argument(
            help="The sheet: apps, everyday, everyday-densities, densities, screens, languages or "
            "scripts."
        ),
    ] = "apps",
    seed: Seed = 0,
    out: Out = Path("out/phone.png"),
    language: Spoken = "English",
    density: Annotated[int, typer.Option(min=1, max=3, help="Density of everyday-densities.")] = 1,
    app_name: Annotated[
        str, typer.Option("--app", help="Name of the app, for everyday-densities.")
    ] = "Chat",
) -> None:
    """Draw many screens on one sheet: every app, or what else WHAT names."""
    from phonesim import display_pictures, everyday_pictures, language_pictures
    from phonesim.pictures import draw_sheet

    sheets: dict[str, Callable[[], Picture]] = {
        "apps": lambda: draw_sheet(seed),
        "everyday": lambda: everyday_pictures.draw_everyday(seed, language, density),
        "everyday-densities": lambda: everyday_pictures.draw_everyday_densities(seed, app_name),
        "densities": lambda: display_pictures.draw_densities(seed),
        "screens": lambda: display_pictures.draw_screens(seed),
        "languages": lambda: language_pictures.draw_languages(seed),
        "scripts": lambda: language_pictures.draw_scripts(seed),
    }
    if what not in sheets:
        raise UsageError(f"no sheet called {what!r}; there are {', '.join(sheets)}")
    if what == "everyday-densities" and app_name not in everyday_pictures.PAGES:
        known = ", ".join(everyday_pictures.PAGES)
        raise UsageError(f"no everyday app called {app_name!r}; there are {known}")
    _write(out, sheets[what]())


@phone_app.command()
def looks(
    app_name: AppName = "",
    seeds: Annotated[int, typer.Option(min=1, max=40, help="Number of phones.")] = 12,
    out: Out = Path("out/looks.png"),
) -> None:
    """Draw the same screen on many phones, to see how they differ."""
    from phonesim.pictures import draw_looks

    _write(out, draw_looks(app_name, seeds))


@phone_app.command()
def serve(
    phones: Annotated[int, typer.Option(help="Number of phones; each has its own port.")] = 1,
    port: Annotated[int, typer.Option(help="Port of the first phone; 0: any free ones.")] = 7411,
    seed: Seed = 0,
    profile: Annotated[
        str, typer.Option(help="Profile of the phones: plain, samsung, xiaomi or slow.")
    ] = "plain",
    screen: Annotated[
        str, typer.Option(help="Width x height @ density: 1080x2400@3; default: the profile's.")
    ] = "",
    launch_seconds: Annotated[
        float | None, typer.Option(help="Seconds until an app is drawn; default: the profile's.")
    ] = None,
    input_seconds: Annotated[
        float | None, typer.Option(help="Seconds until `input` acts; default: the profile's.")
    ] = None,
    screencap_seconds: Annotated[
        float | None, typer.Option(help="Seconds that `screencap` takes; default: the profile's.")
    ] = None,
    restless_dumps: Annotated[
        int | None,
        typer.Option(
            help="Number of uiautomator dumps after a reset that fail; default: the profile's."
        ),
    ] = None,
) -> None:
    """Serve phones to adb, on this machine alone, until Ctrl-C."""
    from phonesim.adb_daemon.adb_server import serve_phones
    from phonesim.adb_daemon.handset_profile import changed_profile, named_profile
    from phonesim.display import read_display

    chosen = changed_profile(
        named_profile(profile),
        display=read_display(screen) if screen else None,
        launch_seconds=launch_seconds,
        input_seconds=input_seconds,
        screencap_seconds=screencap_seconds,
        restless_dumps=restless_dumps,
    )
    serve_phones(
        phones,
        port,
        seed,
        lambda line: Console().print(line, highlight=False),
        profile=chosen,
    )


def _write(path: Path, picture: Picture) -> None:
    from PIL import Image

    prepare_output_file(path, "screen.png")
    suffix, formats = path.suffix.lower(), Image.registered_extensions()
    if formats.get(suffix) not in Image.SAVE:
        raise UsageError(f"{path} has no suffix of a picture; end it in .png, .jpg, .webp or .pdf")
    try:
        plain = picture if suffix in PALETTES else picture.convert("RGB")
        plain.save(path, optimize=True)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise storage_error(error, f"writing {path}") from error
        raise UsageError(f"{path} cannot be such a picture ({error}); end it in .png") from error
    Console().print(f"{path}  ({picture.width} × {picture.height})", highlight=False)


@phone_app.command()
def tasks(
    family: Annotated[
        str | None, typer.Option(help="List only this family: general, shopping or everyday.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="List only templates of this split: train, test, held_out_…, high_stakes, long"
        ),
    ] = None,
    template: Annotated[
        str | None, typer.Option(help="List only templates like this: a name, or clock.*")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with the apps of each template.")
    ] = False,
) -> None:
    """List the task templates, each with an example."""
    found = list(task_rows(family, split, template))
    if not found:
        raise UsageError(_no_task(family, split, template))
    if as_json:
        typer.echo(json.dumps([row._asdict() for row in found], indent=2, ensure_ascii=False))
    elif not sys.stdout.isatty():  # whole lines for other programs
        for row in found:
            typer.echo("\t".join((row.template, row.difficulty, ",".join(row.splits), row.example)))
    else:
        Console().print(task_table(found))


def _no_task(family: str | None, split: str | None, pattern: str | None) -> str:
    """Return an error message that repeats the request and suggests similar names."""
    from phonesim.tasks.task_sets import templates

    asked = {"family": family, "split": split, "template": pattern}
    words = " ".join(f"--{name} {value}" for name, value in asked.items() if value is not None)
    names = list(templates())
    apps = sorted({name.partition(".")[0] for name in names})
    head, _, rest = (pattern or "").partition(".")
    near = [f"{app}.{rest or '*'}" for app in get_close_matches(head, apps, n=2)]
    near += get_close_matches(pattern or "", names, n=3)
    near = [name for name in near if name != pattern and any(fnmatchcase(n, name) for n in names)]
    said = f"near it: {', '.join(dict.fromkeys(near))}" if near else "`distrl tasks` lists all"
    return f"no template matches {words}; {said}"


class TaskRow(NamedTuple):
    """A template and an example of it."""

    template: str
    family: str
    difficulty: str
    splits: tuple[str, ...]
    apps: tuple[str, ...]
    example: str


def task_rows(
    family: str | None, split: str | None, pattern: str | None = None
) -> Iterator[TaskRow]:
    """Yield every template of a family and a split whose name matches a pattern (None: all)."""
    from distrl.records import FAMILIES, SPLITS
    from phonesim.tasks.task_sets import load_task, splits_of, templates

    if family is not None and family not in FAMILIES:
        raise UsageError(f"no family called {family!r}; there are {', '.join(FAMILIES)}")
    if split is not None and split not in SPLITS:
        raise UsageError(f"no split called {split!r}; there are {', '.join(SPLITS)}")
    for name, template in templates().items():
        splits = splits_of(template)
        if family not in (None, template.family) or (split is not None and split not in splits):
            continue
        if pattern is not None and not fnmatchcase(name, pattern):
            continue
        first = next(each for each in splits if split in (None, each))
        example = load_task(f"{name}/{first}/0")[0].instruction
        yield TaskRow(name, template.family, template.difficulty, splits, template.apps, example)


def task_table(rows: Sequence[TaskRow]) -> Table:
    """Return the table; names are never truncated or wrapped, so that they can be copied."""
    table = Table(title=f"{len(rows)} task templates", title_justify="left")
    widest = max((len(row.template) for row in rows), default=0)
    table.add_column("template", no_wrap=True, min_width=widest)
    for column in ("difficulty", "splits", "for example"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row.template, row.difficulty, ", ".join(row.splits), row.example)
    return table
