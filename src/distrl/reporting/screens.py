"""Pictures of the phone: one screen, every app, one screen on many phones, a task being played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw
from rich.table import Table

from distrl.episodes.episode import run_episode
from distrl.episodes.evaluation import SIMPLE_AGENTS
from distrl.errors import UnknownApp, UsageError
from distrl.hierarchy import uiautomator_xml
from distrl.records import Action, OpenApp, Swipe, Trajectory
from distrl.reporting.recording import INK, PAPER, caption_font, write_recording
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.drift import Drift
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

GAP, FOOT = 16, 30
DRAWER = Swipe(0.5, 0.75, 0.5, 0.3)
SHADE = Swipe(0.5, 0.005, 0.5, 0.6)


def draw_screen(app: str, seed: int, taps: Sequence[str] = ()) -> Image.Image:
    """The home screen, or an app; then whatever the labels in `taps` lead to."""
    return Image.fromarray(_phone_at(app, seed, taps).frame())


def read_screen(app: str, seed: int, taps: Sequence[str], xml: bool) -> str | Table:
    """What stands on that screen, as a table or as `uiautomator dump` would write it."""
    elements = _phone_at(app, seed, taps).elements()
    if xml:
        return uiautomator_xml(elements, f"org.distrl.{app.casefold() or 'launcher'}")
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
    return table


def _phone_at(app: str, seed: int, taps: Sequence[str] = ()) -> Phone:
    phone = Phone(seed, Drift(popup_rate=0.0))
    if app:
        names = {name.casefold(): name for name in phone.apps}
        if app.casefold() not in names:
            raise UnknownApp(f"no app called {app!r}; there are {', '.join(phone.apps)}")
        phone.launch(names[app.casefold()])
    for label in taps:
        Finger(phone).tap(label)
    return phone


def draw_sheet(seed: int) -> Image.Image:
    """Home screen, drawer, shade and every preinstalled app."""
    actions: dict[str, Action | None] = {"Home": None, "Drawer": DRAWER, "Quick settings": SHADE}
    phone = Phone(seed)
    for name, app in phone.apps.items():
        if app.preinstalled:
            actions[name] = OpenApp(name)
    pictures = []
    start = phone.snapshot()
    for action in actions.values():
        phone.restore(start)
        if action:
            phone.perform(action)
            phone.show_popup(None)
        pictures.append(Image.fromarray(phone.frame()))
    return tile_pictures(pictures, list(actions), columns=7, width=200)


def draw_looks(app: str, seeds: int) -> Image.Image:
    pictures = [draw_screen(app, seed) for seed in range(seeds)]
    return tile_pictures(pictures, [f"seed {s}" for s in range(seeds)], columns=6, width=220)


def tile_pictures(
    pictures: Sequence[Image.Image], captions: Sequence[str], columns: int, width: int
) -> Image.Image:
    """Pictures side by side with a caption below each, in 256 colours: small enough to send."""
    height = round(width * HEIGHT / WIDTH)
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (columns * (width + GAP) + GAP, rows * (height + FOOT + GAP) + GAP)
    sheet = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(sheet)
    font = caption_font(15, "Medium")
    for index, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        x = GAP + index % columns * (width + GAP)
        y = GAP + index // columns * (height + FOOT + GAP)
        sheet.paste(picture.resize((width, height), Image.Resampling.LANCZOS), (x, y))
        draw.text((x + 2, y + height + 6), caption, fill=INK, font=font)
    return sheet.quantize(256)


def play_tasks(task_ids: Sequence[str], agent: str, out: Path) -> list[Trajectory]:
    """Let a simple agent play tasks, and write the film."""
    if agent not in SIMPLE_AGENTS:
        raise UsageError(f"no agent called {agent!r}; there are {', '.join(SIMPLE_AGENTS)}")
    device = SimulatedDevice("film")
    judge = FactJudge(device)
    played = []
    for task, _ in [load_task(task_id) for task_id in task_ids]:
        policy = SIMPLE_AGENTS[agent](task, device, judge)
        played.append(run_episode(task, device, policy, judge))
    write_recording(played, out)
    return played
