"""The base class of apps, and the `Ui` that their page methods build pages with.

An app is a class whose methods are its pages: `home(ui)` is the first one, and `ui.go("edit", 7)`
opens `edit(ui, 7)`. A page method reads facts and returns a page, a dialog, a menu or a sheet made
with `ui`; it is called again for every frame and must not change anything. Handlers (`on_tap` and
the like) change facts, the page's memory (`ui.set`) or the navigation, and nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from phonesim.drawing.colors import Color
from phonesim.drawing.theme import Theme
from phonesim.drift import NEWEST
from phonesim.facts import Facts
from phonesim.languages.language import Language
from phonesim.scene import Handler
from phonesim.state import Plain, Route
from phonesim.system import InstalledApp, SystemSettings, offline
from phonesim.toolkit.boxes import Column, Pad, Row
from phonesim.toolkit.controls import Button, IconButton, TextField
from phonesim.toolkit.modals import Dialog, Menu, Sheet
from phonesim.toolkit.pages import Page, Tabs
from phonesim.toolkit.rows import ListRow, Scroll
from phonesim.toolkit.texts import Icon, Text
from phonesim.toolkit.widget import Widget
from phonesim.toolkit.widget import Window as Window

if TYPE_CHECKING:
    from phonesim.phone import Phone


class App:
    """An app. Subclasses define a name, an icon, a colour, the kinds of their facts, and pages."""

    name: ClassVar[str]
    icon: ClassVar[str]
    color: ClassVar[Color]
    kinds: ClassVar[tuple[type[Any], ...]] = ()
    preinstalled: ClassVar[bool] = True
    network_pages: ClassVar[frozenset[str]] = frozenset()  # none: the app needs no network
    removable: ClassVar[bool] = False

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        """Add the app's initial facts to a new phone."""

    def home(self, ui: Ui) -> Window:
        raise NotImplementedError


class Ui:
    """What a page method works with: facts to read, widgets bound to the page, navigation."""

    __slots__ = ("_phone", "app", "facts", "now", "route", "theme")

    def __init__(self, phone: Phone, app: App, route: Route, theme: Theme) -> None:
        self._phone = phone
        self.app = app
        self.route = route
        self.theme = theme
        self.facts: Facts = phone.facts
        self.now: datetime = phone.now

    # What the page knows -----------------------------------------------------------------------

    @property
    def settings(self) -> SystemSettings:
        return self.facts.one(SystemSettings)

    @property
    def offline(self) -> bool:
        """Whether the app needs a network and has none."""
        return bool(self.app.network_pages) and offline(self.settings)

    @property
    def version(self) -> int:
        """The app's version, 1 to 3, for details that changed between versions."""
        installed = self.facts.find(InstalledApp, lambda a: a.name == self.app.name)
        return min(installed.version, NEWEST) if installed else 1

    @property
    def screen(self) -> tuple[int, int]:
        """Width and height of the whole screen, in units of layout."""
        return self._phone.display.units

    @property
    def language(self) -> Language:
        """The phone's language, with its formats of numbers, money, dates and times."""
        return self.theme.language

    def tr(self, text: str, **values: object) -> str:
        """A text of the app in the phone's language: `ui.tr("Call {name}", name=person.name)`."""
        return self.theme.language.tr(text, **values)

    def get(self, key: str, default: Plain = None) -> Any:
        """Return a value from the page's memory (its draft, its filter, its tab)."""
        return self.route.memory.get(key, default)

    def text(self, key: str, default: str = "") -> str:
        """Return the content of the text field with that key."""
        return str(self.route.memory.get(key, default))

    def uniform(self, *names: str | int) -> float:
        """A number in [0, 1) that depends only on the phone's seed and the names."""
        return self._phone.uniform(*names)

    @property
    def ad_rate(self) -> float:
        return self._phone.state.drift.ad_rate

    @property
    def apps(self) -> Mapping[str, App]:
        """Every app there is, by name, installed or not."""
        return self._phone.apps

    # What handlers do --------------------------------------------------------------------------

    def set(self, key: str, value: Plain) -> None:
        """Store a value in the memory of the page in front."""
        self._phone.remember(key, value)

    def go(self, page: str, *args: Plain, **memory: Plain) -> None:
        """Open a page of this app on top."""
        self._phone.push(Route(page, args, dict(memory)))

    def swap(self, page: str, *args: Plain, **memory: Plain) -> None:
        """Open a page in place of the one in front."""
        self._phone.pop()
        self._phone.push(Route(page, args, dict(memory)))

    def back(self, pages: int = 1) -> None:
        for _ in range(pages):
            self._phone.pop()

    def launch(self, app: str, page: str = "home", *args: Plain, **memory: Plain) -> None:
        """Bring another app to the front, with a page of it on top."""
        self._phone.launch(app)
        if page != "home":
            self._phone.push(Route(page, args, dict(memory)))

    def stop(self, app: str) -> None:
        """End another app; its open pages are gone."""
        self._phone.stop(app)

    def say(self, message: str) -> None:
        """Show a snackbar until the next action."""
        self._phone.say(message)

    def hide_keyboard(self) -> None:
        self._phone.focus(None)

    # Windows -----------------------------------------------------------------------------------

    def page(
        self,
        title: str,
        body: Sequence[Widget],
        *,
        actions: Sequence[IconButton] = (),
        primary: tuple[str, str, Handler] | None = None,
        tabs: Tabs | None = None,
        head: Widget | None = None,
        foot: Widget | None = None,
        gap: int = 0,
    ) -> Page:
        """A full page. `primary` = (icon, label, handler) is its main action."""
        first = self.route is self._phone.routes[0]
        if self.offline:
            head = Column([self._offline_banner(), *([head] if head else [])])
        return Page(
            title=title,
            body=self.scroll(body, gap=gap),
            on_up=None if first else self.back,
            actions=actions,
            primary=IconButton(primary[0], primary[1], primary[2]) if primary else None,
            tabs=tabs,
            head=head,
            foot=foot,
        )

    def offline_page(self) -> Page:
        """Return the page shown in place of one that needs a network while there is none."""
        return self.page(
            self.tr(self.app.name),
            [
                Pad(Icon("cloud", 72, "muted"), top=40),
                Pad(Text(self.tr("No connection"), "headline", align="centre")),
                Pad(
                    Text(
                        self.tr("This needs Wi-Fi or mobile data. What you wrote is kept."),
                        align="centre",
                    )
                ),
            ],
        )

    def _offline_banner(self) -> Widget:
        again = Button(
            self.tr("Try again"), lambda: self.say(self.tr("Still offline")), "plain", high=34
        )
        words = Text(self.tr("You are offline"), "strong", "danger")
        return Pad(Row([words, again], stretch=0), sides=14, top=4, bottom=4)

    def dialog(
        self, title: str, body: str | Sequence[Widget], buttons: Mapping[str, Handler | None]
    ) -> Dialog:
        """A dialog. Every button closes it, then calls its handler (None: no handler)."""
        widgets = [Text(body, "body", "muted")] if isinstance(body, str) else list(body)
        row = [Button(label, self.closing(act), "plain") for label, act in buttons.items()]
        return Dialog(title, widgets, row, on_close=self.back)

    def menu(self, choices: Mapping[str, Handler]) -> Menu:
        """A menu under the bar. A choice closes it, then calls its handler."""
        rows = [ListRow(label, on_tap=self.closing(act)) for label, act in choices.items()]
        return Menu(self.scroll(rows), on_close=self.back)

    def sheet(self, title: str, choices: Mapping[str, Handler], chosen: str | None = None) -> Sheet:
        """A sheet of choices at the bottom of the screen; with `chosen`, radio buttons."""
        rows = [
            ListRow(
                label,
                on_tap=self.closing(act),
                radio=None if chosen is None else label == chosen,
            )
            for label, act in choices.items()
        ]
        return Sheet(title, self.scroll(rows), on_close=self.back)

    def closing(self, act: Handler | None) -> Handler:
        """Return a handler that first closes the window in front, then calls `act`."""

        def close_then_act() -> None:
            self._phone.pop()
            if act:
                act()

        return close_then_act

    # Widgets tied to the page's memory ---------------------------------------------------------

    def scroll(self, children: Sequence[Widget], key: str = "scroll", gap: int = 0) -> Scroll:
        offset = int(self.get(key, 0))
        return Scroll(children, offset, lambda value: self.set(key, value), gap)

    def field(
        self,
        key: str,
        label: str,
        *,
        on_submit: Handler | None = None,
        icon: str = "",
        secret: bool = False,
        lines: int = 1,
    ) -> TextField:
        """A text field whose content is `ui.text(key)`. Enter runs `on_submit`."""

        def submit() -> None:
            if lines > 1 and on_submit is None:
                self.set(key, self.text(key) + "\n")
                return
            self.hide_keyboard()
            if on_submit:
                on_submit()

        return TextField(
            key=key,
            label=label,
            value=self.text(key),
            on_focus=lambda: self._phone.focus(key, label),
            on_clear=lambda: self._clear(key, label),
            on_submit=submit,
            icon=icon,
            secret=secret,
            lines=lines,
        )

    def _clear(self, key: str, label: str) -> None:
        self.set(key, "")
        self._phone.focus(key, label)

    def tabs(self, *labels: str, key: str = "tab", icons: Sequence[str] = ()) -> Tabs:
        """Tabs; `ui.tab(*labels)` returns the current one. With icons they are at the bottom."""
        current = int(self.get(key, 0))
        return Tabs(labels, current, [self._pick(key, i) for i in range(len(labels))], icons)

    def tab(self, *labels: str, key: str = "tab") -> str:
        return labels[int(self.get(key, 0))]

    def _pick(self, key: str, index: int) -> Handler:
        def pick() -> None:
            self.set(key, index)
            self.set("scroll", 0)

        return pick


PageMethod = Callable[..., Window]
