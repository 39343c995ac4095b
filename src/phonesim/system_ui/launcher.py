"""The home screen: pages of icons over a wallpaper, a dock, and the drawer with every app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from distrl.records import Pixels
from phonesim.app import App, Ui, Window
from phonesim.apps import APPS
from phonesim.drawing.canvas import Canvas, Mask
from phonesim.drawing.colors import BLACK, WHITE, Color
from phonesim.drawing.dense_canvas import new_canvas
from phonesim.drawing.fonts import Face, face, shorten, text_mask, text_width
from phonesim.scene import Drag, Handler, Scene, Touch
from phonesim.system import InstalledApp, SystemSettings
from phonesim.toolkit.boxes import Grid, Pad
from phonesim.toolkit.rows import Empty
from phonesim.toolkit.widget import Size, Widget

if TYPE_CHECKING:
    from phonesim.drawing.theme import Theme

DOCK = 4
CELL_HEIGHT = 88
WIDE_CELL = 120  # layout units per icon and name, where more than four columns fit
TILE = 52  # size of an app's icon
LOW = 560  # layout units: a lower screen has clock and search side by side
Box = tuple[int, int, int, int]  # x, y, width, height


@dataclass(frozen=True, slots=True)
class HomeGrid:
    """The layout of a home screen of that size, in layout units."""

    width: int
    height: int

    @property
    def low(self) -> bool:
        return self.height < LOW

    @property
    def columns(self) -> int:
        return max(4, (self.width - 32) // WIDE_CELL)

    @property
    def cell(self) -> int:
        return (self.width - 32) // self.columns

    @property
    def top(self) -> int:
        return 108 if self.low else 236

    @property
    def dock_top(self) -> int:
        return self.height - (130 if self.low else 142)

    @property
    def dots_top(self) -> int:
        return self.dock_top - (12 if self.low else 22)

    @property
    def per_page(self) -> int:
        return self.columns * max(1, (self.dots_top - self.top) // CELL_HEIGHT)

    @property
    def search(self) -> Box:
        if self.low:
            return self.width // 2 + 8, 44, self.width // 2 - 36, 44
        wide = min(self.width - 56, 480)
        return (self.width - wide) // 2, 168, wide, 44

    def icon(self, index: int) -> tuple[int, int]:
        row, column = divmod(index, self.columns)
        left = (self.width - self.columns * self.cell) // 2
        return left + column * self.cell, self.top + row * CELL_HEIGHT

    def docked(self, index: int) -> tuple[int, int]:
        return (self.width - DOCK * self.cell) // 2 + index * self.cell, self.dock_top


def draw_app_icon(canvas: Canvas, x: int, y: int, app: App, background: Color | None) -> None:
    canvas.rounded((x, y, TILE, TILE), 15, app.color, background)
    canvas.icon(x + 11, y + 11, app.icon, 30, WHITE, app.color)


@dataclass(slots=True)
class AppTile:
    """An app in the drawer: icon and name."""

    app: App
    on_tap: Handler
    on_hold: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return width, CELL_HEIGHT

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        left = x + (width - TILE) // 2
        draw_app_icon(scene.canvas, left, y + 4, self.app, scene.background)
        label = scene.theme.language.tr(self.app.name)
        scene.centred_text((x, y + 58, width, 18), label, face(12))
        scene.element("app", label, (x, y, width, height), on_tap=self.on_tap, on_hold=self.on_hold)


@dataclass(slots=True)
class HomeScreen:
    """One page of the home screen. Its static part is drawn once and cached."""

    wallpaper: str
    clock: str
    date: str
    dock: tuple[str, ...]
    icons: tuple[str, ...]
    page: int
    pages: int
    on_open: dict[str, Handler]
    on_hold: dict[str, Handler]
    on_search: Handler
    on_drag: Callable[[Drag], bool]
    on_swap: Callable[[str, str], None]

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        language, canvas = scene.theme.language, scene.canvas
        grid = HomeGrid(canvas.width, canvas.height)
        search = language.tr("Search the web")
        labels = tuple(language.tr(name) for name in (*self.icons, *self.dock))
        drawn = (self.wallpaper, self.dock, self.icons, self.page, self.pages, labels, search)
        canvas.tile(home_picture(*drawn, grid, canvas.density), 0, 0)
        self._place_clock(scene, grid)
        scene.touches.append(Touch((0, 0, grid.width, grid.height), on_drag=self.on_drag))
        scene.element("field", search, grid.search, on_tap=self.on_search)
        for index, name in enumerate(self.icons):
            self._touchable(scene, name, grid.icon(index), grid.cell)
        for index, name in enumerate(self.dock):
            self._touchable(scene, name, grid.docked(index), grid.cell)
        whole = (0, 0, grid.width, grid.height)
        scene.touches.append(Touch(whole, on_drop=partial(self._dropped, grid)))

    def _dropped(self, grid: HomeGrid, drag: Drag) -> bool:
        """Swap an icon with the one it is dropped on."""
        carried = self._icon_at(grid, drag.x, drag.y)
        below = self._icon_at(grid, drag.to_x, drag.to_y)
        if carried is None or below is None or carried == below:
            return False
        self.on_swap(carried, below)
        return True

    def _icon_at(self, grid: HomeGrid, x: int, y: int) -> str | None:
        places = {name: grid.icon(index) for index, name in enumerate(self.icons)}
        places |= {name: grid.docked(index) for index, name in enumerate(self.dock)}
        return next(
            (
                name
                for name, (left, top) in places.items()
                if left <= x < left + grid.cell and top <= y < top + CELL_HEIGHT - 6
            ),
            None,
        )

    def _place_clock(self, scene: Scene, grid: HomeGrid) -> None:
        """Place the clock centred; on a low screen in the left half, beside the search."""
        scene.background = None
        big, small = face(36 if grid.low else 52), face(15, "medium")
        middle = grid.width // 4 if grid.low else grid.width // 2
        top, below = (30, 76) if grid.low else (60, 128)
        scene.text((2 * middle - text_width(self.clock, big)) // 2, top, self.clock, big, WHITE)
        scene.text((2 * middle - text_width(self.date, small)) // 2, below, self.date, small, WHITE)
        scene.element("text", self.clock, (middle - 100, top, 200, 64), detail=self.date)

    def _touchable(self, scene: Scene, name: str, at: tuple[int, int], wide: int) -> None:
        rect = (*at, wide, CELL_HEIGHT - 6)
        label = scene.theme.language.tr(name)
        scene.element("app", label, rect, on_tap=self.on_open[name], on_hold=self.on_hold[name])


@lru_cache(maxsize=256)  # as many as there are apps
def _shadow(text: str, of: Face, density: int) -> Mask:
    """Return a soft shadow of two units around a text, so that it is readable on any wallpaper."""
    mask, edge = text_mask(text, of, density), 2 * density
    high, wide = mask.shape
    room = np.zeros((high + 4 * edge, wide + 4 * edge), dtype=np.uint16)
    room[2 * edge : -2 * edge, 2 * edge : -2 * edge] = mask
    for axis in (0, 1):
        spread = [np.roll(room, step, axis) for step in range(-edge, edge + 1)]
        room = np.add.reduce(spread) // (2 * edge)
    return np.minimum(room[edge:-edge, edge:-edge], 100).astype(np.uint8)


@lru_cache(maxsize=32)  # for as many phones as a process plays at once, 0.8 MB each
def home_picture(
    wallpaper: str,
    dock: tuple[str, ...],
    icons: tuple[str, ...],
    page: int,
    pages: int,
    labels: tuple[str, ...],
    search: str,
    grid: HomeGrid,
    density: int,
) -> Pixels:
    """Draw the part of a home page that does not change with time. `labels`: icons, then dock."""
    canvas = new_canvas(grid.width, grid.height, density)
    canvas.picture(0, 0, f"wallpaper:{wallpaper}", grid.width, grid.height)
    left, top, _, _ = grid.search
    canvas.rounded(grid.search, 22, (245, 246, 250), None)
    canvas.icon(left + 14, top + 11, "search", 22, (90, 94, 104), (245, 246, 250))
    canvas.text(left + 48, top + 12, search, face(15), (90, 94, 104), (245, 246, 250))
    places = [grid.icon(i) for i in range(len(icons))]
    places += [grid.docked(i) for i in range(len(dock))]
    label_face = face(12, "medium")
    for name, shown, (left, top) in zip((*icons, *dock), labels, places, strict=True):
        draw_app_icon(canvas, left + (grid.cell - TILE) // 2, top, APPS[name], None)
        label = shorten(shown, label_face, grid.cell)
        at = left + (grid.cell - text_width(label, label_face)) // 2
        canvas.blend(_shadow(label, label_face, density), at - 2, top + 56, BLACK)
        canvas.text(at, top + 57, label, label_face, WHITE, None)
    for dot in range(pages):
        canvas.rounded(
            (grid.width // 2 - 8 * pages + 16 * dot + 4, grid.dots_top, 8, 8),
            4,
            WHITE if dot == page else (150, 150, 155),
            None,
        )
    canvas.pixels.flags.writeable = False
    return canvas.pixels


class Launcher(App):
    """Home screen and app drawer, as an app that cannot be closed."""

    name = "Launcher"
    icon = "home"
    color = (90, 90, 90)

    def home(self, ui: Ui) -> Window:
        installed = sorted(
            (app for app in ui.facts.all(InstalledApp) if app.place >= 0), key=lambda a: a.place
        )
        names = [app.name for app in installed]
        dock, rest = names[:DOCK], names[DOCK:]
        per_page = HomeGrid(*ui.screen).per_page
        pages = max(1, -(-len(rest) // per_page))
        page = min(int(ui.get("page", 0)), pages - 1)
        shown = rest[page * per_page : (page + 1) * per_page]

        def dragged(drag: Drag) -> bool:
            if drag.vertical:
                if drag.to_y < drag.y:
                    ui.go("drawer")
                return True
            step = 1 if drag.to_x < drag.x else -1
            ui.set("page", min(pages - 1, max(0, page + step)))
            return True

        return HomeScreen(
            wallpaper=ui.settings.wallpaper,
            clock=f"{ui.now:%H:%M}" if ui.settings.use_24_hour else _twelve_hours(ui),
            date=ui.language.date(ui.now, "full"),
            dock=tuple(dock),
            icons=tuple(shown),
            page=page,
            pages=pages,
            on_open={name: _opening(ui, name) for name in (*dock, *shown)},
            on_hold={name: _asking(ui, name) for name in (*dock, *shown)},
            on_search=lambda: ui.launch("Browser", "new_search"),
            on_drag=dragged,
            on_swap=lambda carried, below: _swap(ui, carried, below),
        )

    def drawer(self, ui: Ui) -> Window:
        query = ui.text("query").casefold()
        names = sorted((ui.tr(app.name), app.name) for app in ui.facts.all(InstalledApp))
        tiles = [
            AppTile(APPS[name], _opening(ui, name), _asking(ui, name))
            for label, name in names
            if query in label.casefold()
        ]
        found: Widget = Pad(Grid(tiles, HomeGrid(*ui.screen).columns, gap=0), sides=8)
        return ui.page(
            ui.tr("Apps"),
            [found if tiles else Empty(ui.tr("No apps found"), "search")],
            head=Pad(
                ui.field("query", ui.tr("Search apps"), icon="search"), sides=12, top=4, bottom=4
            ),
        )

    def app_menu(self, ui: Ui, name: str) -> Window:
        choices: dict[str, Handler] = {
            ui.tr("Open"): _opening(ui, name),
            ui.tr("App info"): lambda: ui.launch("Settings", "app_info", name),
        }
        installed = ui.facts.find(InstalledApp, lambda app: app.name == name)
        if installed and installed.place >= 0:
            remove = ui.tr("Remove from home screen")
            choices[remove] = lambda: ui.facts.edit(installed, place=-1)
        elif installed:
            last = max(app.place for app in ui.facts.all(InstalledApp))
            add = ui.tr("Add to home screen")
            choices[add] = lambda: ui.facts.edit(installed, place=last + 1)
        return ui.sheet(ui.tr(name), choices)


def _opening(ui: Ui, name: str) -> Handler:
    return lambda: ui.launch(name)


def _swap(ui: Ui, carried: str, below: str) -> None:
    one, other = (
        app for name in (carried, below) for app in ui.facts.all(InstalledApp) if app.name == name
    )
    ui.facts.edit(one, place=other.place)
    ui.facts.edit(other, place=one.place)


def _asking(ui: Ui, name: str) -> Handler:
    return lambda: ui.go("app_menu", name)


def _twelve_hours(ui: Ui) -> str:
    return f"{ui.now.hour % 12 or 12}:{ui.now:%M}"


__all__ = ["DOCK", "Launcher", "SystemSettings", "draw_app_icon"]
