"""The phone itself: it takes actions, knows facts, runs apps and draws its screen.

It does not know device time (see `simulated_device`): its own clock advances with its actions, and
world events meanwhile (`world`) follow from the seed and that clock. The same seed and the same
actions always give the same pixels. Its whole state is one record, so a snapshot takes
microseconds.
"""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from distrl.errors import UnknownApp
from distrl.hierarchy import Element
from distrl.records import (
    ONLY_SAID,
    Action,
    Back,
    DoubleTap,
    DragAndDrop,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Pinch,
    Pixels,
    Power,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from phonesim import gestures, world
from phonesim.app import App
from phonesim.apps import APPS
from phonesim.boot import new_state
from phonesim.compositor import compose
from phonesim.dimensions import KEYBOARD, NAVIGATION
from phonesim.display import STANDARD, Display
from phonesim.drawing.canvas import Canvas
from phonesim.drawing.dense_canvas import new_canvas
from phonesim.drift import Drift
from phonesim.facts import Facts, MissingFact
from phonesim.languages.language import Language, language
from phonesim.scene import Drag, Handler, Scene
from phonesim.state import LAUNCHER, PhoneState, Plain, Route
from phonesim.system import InstalledApp, SystemSettings
from phonesim.system_ui import popups

SECONDS_PER_ACTION = 5
EDGE = 28  # a swipe that starts above this line pulls the shade down


class _Drawing(threading.local):
    """The canvases of a thread, one per display, which all phones of the thread share."""

    def __init__(self) -> None:
        self._canvases: dict[Display, Canvas] = {}

    def canvas(self, display: Display) -> Canvas:
        canvas = self._canvases.get(display)
        if canvas is None:
            canvas = self._canvases[display] = new_canvas(*display.units, display.density)
        return canvas


_drawing = _Drawing()


class Phone:
    """A simulated phone; its screen has 360 × 720 pixels unless `display` says otherwise."""

    def __init__(
        self, seed: int = 0, drift: Drift | None = None, display: Display = STANDARD
    ) -> None:
        self._canvas: Canvas | None = None  # None: the thread's
        self._scene: Scene | None = None
        self._frame: Callable[[], Pixels | None] = lambda: None  # the last frame, while referenced
        self.state: PhoneState
        self.restore(new_state(seed, drift or Drift(), display))

    # The whole state ---------------------------------------------------------------------------

    def snapshot(self) -> PhoneState:
        """Return the state as it is now; any number of phones may continue from it."""
        return replace(self.state, facts=self.state.facts.copy())

    def restore(self, state: PhoneState) -> None:
        self.state = replace(state, facts=state.facts.copy())
        self._scene = None

    def draw_on(self, canvas: Canvas) -> None:
        """Draw on this canvas from now on, such as on one that keeps labels."""
        self._canvas = canvas
        self._scene = None

    def refresh(self) -> None:
        """Draw again at the next frame, after facts were changed from outside."""
        self._scene = None

    @property
    def facts(self) -> Facts:
        return self.state.facts

    @property
    def now(self) -> datetime:
        return self.state.now

    @property
    def display(self) -> Display:
        return self.state.display

    @property
    def language(self) -> Language:
        """The language in the system settings."""
        return language(self.facts.one(SystemSettings).language)

    def update(self, **changes: Any) -> None:
        """Replace parts of the state; the screen is drawn again."""
        self.state = replace(self.state, **changes)
        self._scene = None

    def uniform(self, *names: str | int) -> float:
        """A number in [0, 1) that depends only on the seed and the names."""
        text = f"{self.state.seed}/" + "/".join(map(str, names))
        digest = hashlib.blake2b(text.encode(), digest_size=7).digest()
        return int.from_bytes(digest, "big") / 256**7

    # Seeing ------------------------------------------------------------------------------------

    def frame(self) -> Pixels:  # [height, width, 3]
        """The screen as it is now. The array is never written to again."""
        frame = self._frame() if self._scene is not None else None
        return self._draw() if frame is None else frame

    def elements(self) -> tuple[Element, ...]:
        """Return the elements on the screen, in drawing order; bounds are in pixels."""
        return self.display.in_pixels(self.scene.elements)

    @property
    def scene(self) -> Scene:
        if self._scene is None:
            self._draw()
        assert self._scene is not None
        return self._scene

    def _draw(self) -> Pixels:
        """Compose the screen; the phone itself keeps no pixels, only what can be touched."""
        canvas = self._canvas or _drawing.canvas(self.state.display)
        self._scene = compose(self, canvas)
        frame = canvas.pixels.copy()
        frame.flags.writeable = False
        self._frame = weakref.ref(frame)
        return frame

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Carry out an action. Actions in `ONLY_SAID`, such as an answer, change nothing."""
        if isinstance(action, ONLY_SAID):
            return
        before = self.now
        self._begin(action.seconds if isinstance(action, Wait) else 0.0)
        if self.state.asleep:  # only the power key wakes it, or what rings
            self.update(asleep=not isinstance(action, Power))
        else:
            self._act(action)
        self._scene = None  # whatever the action did, time has passed
        if self.state.drift.event_rate:
            world.pass_time(self, before)
        if not self.state.asleep:
            self._maybe_popup(action)

    def _act(self, action: Action) -> None:
        width, height = self.display.units
        match action:
            case Tap(x, y):
                self.tap(_unit(x, width), _unit(y, height))
            case LongPress(x, y):
                self._hold(_unit(x, width), _unit(y, height))
            case Swipe(x, y, to_x, to_y, seconds):
                start = _unit(x, width), _unit(y, height)
                self.drag(Drag(*start, _unit(to_x, width), _unit(to_y, height), seconds))
            case DoubleTap(x, y):
                gestures.double_tap(self, _unit(x, width), _unit(y, height))
            case DragAndDrop(x, y, to_x, to_y):
                start = _unit(x, width), _unit(y, height)
                gestures.drop(self, *start, _unit(to_x, width), _unit(to_y, height))
            case Pinch(x, y, scale):
                gestures.pinch(self, _unit(x, width), _unit(y, height), scale)
            case TypeText(text):
                self.type_text(text)
            case Enter():
                self.submit()
            case Back():
                self.back()
            case Home():
                self.home()
            case OpenApp(name):
                self._open_by_name(name)
            case _:
                gestures.press_key(self, action)

    def _begin(self, waited: float) -> None:
        passed = timedelta(seconds=SECONDS_PER_ACTION + round(waited))
        scene = self.scene  # the action hits the screen as it was before
        actions = self.state.actions + 1
        self.update(now=self.now + passed, actions=actions, message=None, heads_up=0)
        self._scene = scene

    def tap(self, x: int, y: int) -> None:
        for touch in self.scene.touch_at(x, y):
            if touch.on_tap_at:
                self.run(partial(touch.on_tap_at, x))
                break
            if touch.on_tap:
                self.run(touch.on_tap)
                break
        self._scene = None

    def run(self, handler: Handler) -> None:
        """Call a handler; close the page in front if it is about a fact that is gone."""
        try:
            handler()
        except MissingFact:
            self.pop()

    def _hold(self, x: int, y: int) -> None:
        for touch in self.scene.touch_at(x, y):
            handler = touch.on_hold or touch.on_tap
            if handler:
                self.run(handler)
                break
        self._scene = None

    def drag(self, drag: Drag) -> None:
        if abs(drag.to_x - drag.x) + abs(drag.to_y - drag.y) < 10:
            self.tap(drag.x, drag.y)
            return
        if drag.y < EDGE and drag.vertical and drag.to_y > drag.y and not self.state.popup:
            self.update(overlay="shade", focus=None)
            return
        for touch in self.scene.touch_at(drag.x, drag.y):
            if touch.on_drag and touch.on_drag(drag):
                break
        self._scene = None

    def _open_by_name(self, name: str) -> None:
        wanted, tr = name.strip().casefold(), self.language.tr
        installed = self.facts.find(
            InstalledApp, lambda app: wanted in (app.name.casefold(), tr(app.name).casefold())
        )
        if installed is None:
            self.say(tr("No app called {name}", name=name.strip()[:40]))
        else:
            self.launch(installed.name)

    # Typing ------------------------------------------------------------------------------------

    def focus(self, key: str | None, label: str = "") -> None:
        """Focus a field (None: no field), and scroll so that the keyboard does not hide it."""
        if key is not None and self.state.focus is None and self._scene is not None:
            fields = [e for e in self._scene.elements if (e.role, e.text) == ("field", label)]
            bottom = max((field.bounds[3] for field in fields), default=0)
            hidden = bottom + 12 - (self.display.units[1] - NAVIGATION - KEYBOARD)
            if hidden > 0 and self._scene.window == "app":
                offset = self.routes[-1].memory.get("scroll")
                self.remember("scroll", (offset if isinstance(offset, int) else 0) + hidden)
        self.update(focus=key, keyboard="lower")

    def type_text(self, text: str) -> None:
        """Append text to the focused field; without a focus do nothing."""
        key = self.state.focus
        if key is not None:
            self.remember(key, f"{self.routes[-1].memory.get(key) or ''}{text}")

    def erase(self) -> None:
        key = self.state.focus
        if key is not None:
            self.remember(key, str(self.routes[-1].memory.get(key) or "")[:-1])

    def show_keys(self, layer: str) -> None:
        self.update(keyboard=layer)

    def submit(self) -> None:
        """Press Enter: call the focused field's handler."""
        handler = self.scene.on_submit
        if self.state.focus is not None and handler:
            self.run(handler)
        self._scene = None

    # Going from page to page -------------------------------------------------------------------

    @property
    def routes(self) -> tuple[Route, ...]:
        """The open pages of the app in front, oldest first."""
        return self.state.running[self.state.front]

    def _set_routes(self, routes: tuple[Route, ...], **changes: Any) -> None:
        self.update(running={**self.state.running, self.state.front: routes}, **changes)

    def remember(self, key: str, value: Plain) -> None:
        *below, top = self.routes
        self._set_routes((*below, top.remember(key, value)))

    def push(self, route: Route) -> None:
        self._set_routes((*self.routes, route), focus=None)

    def pop(self) -> None:
        """Close the page in front; if it is an app's first page, go to the home screen."""
        if len(self.routes) > 1:
            self._set_routes(self.routes[:-1], focus=None)
        elif self.state.front != LAUNCHER:
            self.home()

    def launch(self, name: str) -> None:
        """Bring an installed app to the front, on the page where it was left."""
        if name not in APPS:
            raise UnknownApp(f"no app called {name!r}; there are {', '.join(APPS)}")
        running = self.state.running
        self.update(
            front=name,
            running=running if name in running else {**running, name: (Route("home"),)},
            recent=(name, *(other for other in self.state.recent if other != name)),
            focus=None,
            overlay=None,
        )

    def stop(self, name: str) -> None:
        """End an app: its open pages are gone, its facts stay."""
        running = {app: routes for app, routes in self.state.running.items() if app != name}
        front = LAUNCHER if self.state.front == name else self.state.front
        recent = tuple(app for app in self.state.recent if app != name)
        self.update(running=running, recent=recent, front=front, focus=None)

    def crash(self) -> None:
        """Stop the app in front and show a dialog about it. The home screen never crashes."""
        app = self.state.front
        if app != LAUNCHER:
            self.stop(app)
            self.update(overlay=None)
            self.show_popup(f"crash:{app}")

    def back(self) -> None:
        if self.state.popup:
            self.update(popup=None)
        elif self.state.overlay:
            self.update(overlay=None)
        elif self.state.focus:
            self.update(focus=None)
        else:
            self.pop()

    def home(self) -> None:
        running = {**self.state.running, LAUNCHER: (Route("home"),)}
        self.update(front=LAUNCHER, running=running, focus=None, overlay=None, popup=None)

    def show_overlay(self, overlay: str | None) -> None:
        self.update(overlay=overlay, focus=None)

    def say(self, message: str) -> None:
        self.update(message=message)

    def show_popup(self, name: str | None) -> None:
        shown = self.state.popups + (name is not None)
        self.update(popup=name, popups=shown)

    def _maybe_popup(self, action: Action) -> None:
        state = self.state
        busy = state.popup or state.overlay or state.focus or state.front == LAUNCHER
        if busy or isinstance(action, Wait) or not state.drift.popup_rate:
            return
        if self.uniform("popup", state.actions) < state.drift.popup_rate:
            self.show_popup(popups.choose(self.uniform("popup kind", state.actions)))

    @property
    def apps(self) -> Mapping[str, App]:
        """Every app there is, by name, installed or not."""
        return APPS


def _unit(share: float, extent: int) -> int:
    return min(int(share * extent), extent - 1)
