"""One page of a Chromium in its own browser context: load, observe, evaluate, and wait.

A browser that draws on demand draws a frame only when we request it. We request frames while we
wait for anything, since input, layout and loading need frames to proceed, and once more for the
picture. An ordinary browser draws sixty frames a second by itself; we then wait for its frames.

Events that the page causes by itself are recorded here as state: an open dialog that blocks the
page, a crashed renderer, refused documents and downloads. Every wait has a deadline.
"""

from __future__ import annotations

import base64
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from PIL import Image

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_settings import Viewport
from distrl.devices.browser.chromium import Chromium
from distrl.devices.browser.devtools import Json, Pending, Session, answer_of
from distrl.errors import (
    AppCrashed,
    BrokenPicture,
    CommandRefused,
    DeviceTimeout,
    PageTimeout,
    PageUnreachable,
)
from distrl.records import Pixels

STEP_SECONDS, PAGE_SECONDS = 10.0, 20.0
QUIET_SECONDS = 0.005  # wait for a message, then draw another frame
BEAT_SECONDS = 0.25  # wait for one message, where we need not draw a frame
SETTLE_FRAMES = 4  # draw at most this many frames until nothing changes; a page may never rest
STATUS = "performance.getEntriesByType('navigation')[0]?.responseStatus"
PICTURE = {"format": "png", "optimizeForSpeed": True}
PAGE_SETUP = Path(__file__).with_name("page_setup.js")  # runs before the page's own scripts


@dataclass(frozen=True, slots=True)
class Dialog:
    """An alert, confirm or prompt of a page, which is blocked until the dialog is answered.

    A headless browser does not draw dialogs: `page_dialog` does.
    """

    kind: str  # alert, confirm or prompt
    message: str
    text: str = ""  # the content of a prompt's text field


class BrowserPage:
    """A page and its recorded events. One thread uses it at a time."""

    def __init__(
        self,
        browser: Chromium,
        session: Session,
        target: str,
        context: str,
        viewport: Viewport,
        allowed: AllowedOrigins,
    ) -> None:
        self.browser = browser
        self.session = session
        self.viewport = viewport
        self.dialog: Dialog | None = None
        self.refused: list[str] = []  # documents and downloads that were refused to the page
        self._target = target
        self._context = context
        self._allowed = allowed
        self._crashed = False
        self._loading = False
        self._loads = 0
        self._frame: Pending | None = None  # the frame that is being drawn
        self._picture: Pixels | None = None
        session.handlers = {
            "Page.javascriptDialogOpening": self._on_dialog,
            "Page.frameStartedLoading": lambda event: self._on_loading(event, begun=True),
            "Page.frameStoppedLoading": lambda event: self._on_loading(event, begun=False),
            "Page.loadEventFired": self._on_loaded,
            "Page.downloadWillBegin": self._on_download,
            "Fetch.requestPaused": self._on_document,
            "Inspector.targetCrashed": self._on_crash,
        }

    @classmethod
    def new(cls, name: str, browser: Chromium, viewport: Viewport, allowed: AllowedOrigins) -> Self:
        """Open an empty page with its own cookies and storage."""
        context = str(browser.call("Target.createBrowserContext")["browserContextId"])
        width, height = viewport.css_size
        created = browser.call(
            "Target.createTarget",
            url="about:blank",
            width=width,
            height=height,
            browserContextId=context,
            enableBeginFrameControl=browser.on_demand,
        )
        target = str(created["targetId"])
        browser.call("Browser.setDownloadBehavior", behavior="deny", browserContextId=context)
        session = browser.attach(name, target)
        page = cls(browser, session, target, context, viewport, allowed)
        page._prepare()
        return page

    def _prepare(self) -> None:
        width, height = self.viewport.css_size
        send = self.session.send
        self.finish(
            send("Page.enable"),
            send("Inspector.enable"),
            send("Fetch.enable", patterns=[{"resourceType": "Document"}]),
            send(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=height,
                deviceScaleFactor=self.viewport.scale,
                mobile=self.viewport.mobile,
            ),
            send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1),
            send("Emulation.setFocusEmulationEnabled", enabled=True),
            send("Page.addScriptToEvaluateOnNewDocument", source=PAGE_SETUP.read_text("utf-8")),
        )

    def close(self) -> None:
        """Close the page and delete its cookies and storage; the page must not hang."""
        self.browser.tools.forget(self.session)
        self.browser.call("Target.disposeBrowserContext", browserContextId=self._context)

    # Events ------------------------------------------------------------------------------------

    def _on_dialog(self, event: Json) -> None:
        if event.get("type") == "beforeunload":  # a person would confirm leaving the page
            self.session.send("Page.handleJavaScriptDialog", accept=True)
            return
        kind, text = str(event.get("type")), str(event.get("defaultPrompt", ""))
        self.dialog = Dialog(kind, str(event.get("message", "")), text)

    def _on_loading(self, event: Json, *, begun: bool) -> None:
        if event.get("frameId") == self._target:
            self._loading = begun

    def _on_loaded(self, event: Json) -> None:
        self._loads += 1

    def _on_download(self, event: Json) -> None:
        self.refused.append(f"the download of {str(event.get('url', ''))[:200]}")

    def _on_document(self, event: Json) -> None:
        """Let a request for a document continue, or refuse it: the page then stays as it is."""
        request, url = event["requestId"], str(event["request"]["url"])
        if self._allowed.allows(url):
            self.session.send("Fetch.continueRequest", requestId=request)
            return
        self.refused.append(f"the page {url[:200]}, which is not among the allowed origins")
        self.session.send("Fetch.failRequest", requestId=request, errorReason="Aborted")

    def _on_crash(self, event: Json) -> None:
        self._crashed = True

    # Waiting -----------------------------------------------------------------------------------

    def finish(self, *sent: Pending, eager: bool = False, seconds: float = STEP_SECONDS) -> None:
        """Wait until all commands are answered, or a dialog blocks the page.

        `eager`: draw a frame at once, since these commands are known to need one.
        """
        self.until(lambda: all(each.done for each in sent), sent[0].method, seconds, eager=eager)
        for each in sent:
            if each.done:
                answer_of(self.session.name, each)

    def until(
        self,
        done: Callable[[], bool],
        what: str,
        seconds: float = STEP_SECONDS,
        *,
        eager: bool = False,
    ) -> None:
        """Handle messages and draw frames until `done()` is true, or a dialog blocks the page."""
        deadline = time.monotonic() + seconds
        quiet = 0.0 if eager else QUIET_SECONDS
        while not done() and self.dialog is None:
            self._check(what, seconds, deadline)
            if not self.browser.on_demand:
                self.session.receive(BEAT_SECONDS)
            elif not self.session.receive(quiet):
                self._draw(what, deadline)
                quiet = QUIET_SECONDS

    def _draw(self, what: str, deadline: float, **params: object) -> Json:
        """Draw a frame and return the answer; empty if a dialog opened and the frame is pending."""
        self._wait_for_frame(what, deadline)  # an earlier frame that a dialog delayed
        if self.dialog is not None:
            return {}
        frame = self._frame = self.session.send("HeadlessExperimental.beginFrame", **params)
        self._wait_for_frame(what, deadline)
        return answer_of(self.session.name, frame) if frame.done else {}

    def _wait_for_frame(self, what: str, deadline: float) -> None:
        while self._frame is not None and not self._frame.done and self.dialog is None:
            self._check(what, STEP_SECONDS, deadline)
            self.session.receive(BEAT_SECONDS)
        if self._frame is not None and self._frame.done:
            self._frame = None

    def _check(self, what: str, seconds: float, deadline: float) -> None:
        if self._crashed:
            raise AppCrashed(f"device {self.session.name}: the page crashed at {what}; reset it")
        if time.monotonic() > deadline:
            raise DeviceTimeout(
                f"device {self.session.name}: the page hangs, no answer to {what} within "
                f"{seconds:g} s; reset it"
            )

    def pause(self, seconds: float) -> None:
        """Let the page run for `seconds`."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end, "a pause", seconds + STEP_SECONDS)

    def answer(self, *, accept: bool, text: str = "") -> None:
        """Answer the dialog; the page then continues, and may open another dialog."""
        self.dialog = None
        self.finish(
            self.session.send("Page.handleJavaScriptDialog", accept=accept, promptText=text)
        )

    # Documents ---------------------------------------------------------------------------------

    def load(self, url: str) -> None:
        """Load a document, as if its url were typed, and clear the history before it."""
        loads, name = self._loads, self.session.name
        sent = self.session.send("Page.navigate", url=url)
        try:
            self.until(
                lambda: sent.done and (self._loads > loads or bool(sent.result.get("errorText"))),
                f"loading {url[:200]}",
                PAGE_SECONDS,
            )
        except DeviceTimeout as error:
            raise PageTimeout(f"device {name}: {url[:200]} did not load: {error}") from error
        answer = answer_of(name, sent) if sent.done else {}
        if (trouble := answer.get("errorText")) or self.refused:
            why = self.refused[0] if self.refused else trouble
            raise PageUnreachable(f"device {name}: {url[:200]} could not be loaded: {why}")
        status = self.evaluate(STATUS)
        if isinstance(status, int) and status >= 400:
            raise PageUnreachable(
                f"device {name}: {url[:200]} is answered with HTTP status {status}"
            )
        self.finish(self.session.send("Page.resetNavigationHistory"))

    def go_back(self) -> bool:
        """Go back to the previous document; return False if there is none."""
        sent = self.session.send("Page.getNavigationHistory")
        self.finish(sent)
        place = int(sent.result.get("currentIndex", 0))
        if place < 1:
            return False
        entry = sent.result["entries"][place - 1]["id"]
        self.finish(self.session.send("Page.navigateToHistoryEntry", entryId=entry))
        return True

    def evaluate(self, expression: str, seconds: float = STEP_SECONDS) -> object:
        """Return the value of a JavaScript expression; a promise is awaited."""
        sent = self.session.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        self.finish(sent, seconds=seconds)
        if "exceptionDetails" in sent.result:
            details = sent.result["exceptionDetails"]
            said = details.get("exception", {}).get("description", details.get("text", ""))
            raise CommandRefused(
                f"device {self.session.name}: {expression[:80]!r} raised {str(said)[:300]}"
            )
        return sent.result.get("result", {}).get("value")

    # Seeing ------------------------------------------------------------------------------------

    def picture(self) -> Pixels:
        """Return the picture once the page has loaded and is still, or after a few frames.

        While a dialog is open, return the picture from before the dialog.
        """
        data = ""
        for _ in range(SETTLE_FRAMES):
            self.until(lambda: not self._loading, "loading a page", PAGE_SECONDS)
            data = self._taken() if self.dialog is None else ""
            if self.dialog is not None or not self._loading:
                break
        if data:
            self._picture = self._decoded(data)
        if self._picture is None:  # a dialog opened before the first picture: return white
            width, height = self.viewport.width, self.viewport.height
            return np.full((height, width, 3), 255, np.uint8)
        return self._picture

    def _taken(self) -> str:
        """Take a screenshot; empty if nothing has changed, or if a dialog opened meanwhile."""
        if not self.browser.on_demand:
            return self._captured()
        deadline = time.monotonic() + STEP_SECONDS
        for _ in range(SETTLE_FRAMES):
            if not self._draw("drawing", deadline).get("hasDamage"):
                break
        for _ in range(SETTLE_FRAMES):  # the first frames of a renderer have no picture
            drawn = self._draw("a screenshot", deadline, screenshot=PICTURE)
            if "screenshotData" in drawn or self._picture is not None:
                return str(drawn.get("screenshotData", ""))
        return ""

    def _captured(self) -> str:
        """Take a screenshot with a browser that draws by itself. It never answers the request if
        the page is replaced meanwhile: then request the screenshot again.
        """
        loads, sent = self._loads, self.session.send("Page.captureScreenshot", **PICTURE)
        self.until(lambda: sent.done or self._loads > loads, "a screenshot")
        if not sent.done and self.dialog is None:
            sent = self.session.send("Page.captureScreenshot", **PICTURE)
            self.finish(sent)
        return str(answer_of(self.session.name, sent).get("data", ""))

    def _decoded(self, data: str) -> Pixels:
        try:
            with Image.open(io.BytesIO(base64.b64decode(data)), formats=["PNG"]) as image:
                pixels = np.array(image.convert("RGB"))
        except (OSError, ValueError) as error:
            raise BrokenPicture(f"device {self.session.name}: {error}") from error
        wanted = (self.viewport.height, self.viewport.width, 3)
        if pixels.shape != wanted:
            raise BrokenPicture(
                f"device {self.session.name}: a picture of {pixels.shape} instead of {wanted}; "
                "take a devices.browser.scale that divides width and height"
            )
        return pixels
