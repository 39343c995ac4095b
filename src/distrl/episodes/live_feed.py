"""Publishes what the phones of a collector show right now, while somebody watches in `distrl view`.

A collector writes the state of each phone and a thumbnail of its screen into a file of fixed slots,
one per phone, in `RUN/live/`. It does so only while somebody watches: the page renews a lease file
there (`Audience`), which a collector checks once a second; otherwise a step costs one comparison.
Thumbnails take at most `SHARE` of a collector's time, whatever its phones do: if screens change
faster, fewer are drawn, and an unchanged screen is not drawn again. A phone that is viewed enlarged
is named in a file beside the lease, and its thumbnails are larger. Nothing depends on the feed; if
the disk refuses writes, it stops (`slot_file`).

A collector that does not share the learner's disk cannot see the lease. Its learner tells it that
somebody watches (`told_watched`), and it keeps changes in memory until the next heartbeat sends
them (`drain`, `engine.ingest.live_relay`). It is not told which phone is enlarged.
"""

from __future__ import annotations

import io
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PIL import Image

from distrl.episodes.slot_file import SLOT_BYTES, Slot, SlotFile
from distrl.errors import DistrlError
from distrl.json_lines import plain_json
from distrl.records import Action, Decision, Screen, Task, Trajectory

if TYPE_CHECKING:
    from distrl.episodes.episode import Episode
    from distrl.episodes.scheduler import Lease

FOLDER, LEASE, FOLLOWED = "live", "watching", "followed"
LEASE_SECONDS = 6.0  # validity of a lease after its last renewal
LOOK_SECONDS = 1.0  # between two checks of the lease
SHARE = 0.01  # of a collector's time for thumbnails
BURST_SECONDS = 0.02  # of drawing that is allowed before `SHARE` applies
PICTURE_SECONDS = 0.15  # between two thumbnails of one phone, at least
WIDTH, FOLLOWED_WIDTH, QUALITY = 90, 240, 65  # approximate pixels; JPEG quality
LARGEST_PICTURE = SLOT_BYTES - 4096  # bytes; a larger picture is drawn again at WIDTH
RELAY_BYTES = 1 << 18  # sent with a heartbeat, at most
MAX_TEXT = 400  # characters of an instruction or an answer

LiveStage = Literal["resetting", "deciding", "acting", "delivering", "idle", "failed"]


@dataclass(frozen=True, slots=True)
class PhoneState:
    """What one phone does now. `written` is wall-clock time, comparable between processes."""

    device: str
    collector: str
    stage: LiveStage
    written: float
    episode: str = ""
    task: str = ""
    instruction: str = ""
    step: int = 0  # decisions taken so far
    step_limit: int = 0
    action: dict[str, Any] = field(default_factory=dict)  # the last one, with its kind
    answer: str = ""  # the policy's text, which was parsed into this action
    confidence: float | None = None  # geometric mean of the token probabilities of the answer
    version: int = 0  # of the weights that decided
    pictured: bool = False  # whether the picture is of this state; False: of an earlier one
    ending: str = ""  # of the episode that has just ended
    fault: str = ""


class Audience:
    """Renews the lease while somebody watches; without it collectors publish nothing."""

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER

    def renew(self, followed: str = "") -> bool:
        """Renew the lease; return False if that fails (a finished run on a read-only disk).

        `followed`: the phone that is viewed enlarged. Of several viewers the last to renew counts.
        """
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            (self._folder / LEASE).touch()
            if followed:
                (self._folder / FOLLOWED).write_text(followed, "utf-8")
        except OSError:
            return False
        return True


class WatchLease:
    """The lease on the publishing side; checks the files at most once a second."""

    def __init__(self, run: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = run / FOLDER
        self._clock = clock
        self._look_at = 0.0
        self._held = False
        self._followed = ""

    @property
    def holds(self) -> bool:
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            self._held = self._is_fresh(LEASE, now)
            self._followed = self._read_followed() if self._is_fresh(FOLLOWED, now) else ""
        return self._held

    @property
    def followed(self) -> str:
        """The phone that is viewed enlarged, as of the last check; empty: none."""
        return self._followed

    def _is_fresh(self, name: str, now: float) -> bool:
        try:
            return now - (self._folder / name).stat().st_mtime < LEASE_SECONDS
        except OSError:
            return False

    def _read_followed(self) -> str:
        try:
            return (self._folder / FOLLOWED).read_text("utf-8", "replace")
        except OSError:  # removed meanwhile
            return ""


@dataclass(frozen=True, slots=True)
class LiveUpdate:
    """The content of a heartbeat: changed slots by the phone's number, of `phones` phones."""

    phones: int
    slots: dict[int, Slot]


class LiveFeed:
    """Publishes the phones of one collector. Threads may call it at once for different phones."""

    def __init__(
        self,
        run: Path | None,  # None: publish nothing
        collector: str = "",
        devices: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.thread_time,  # measures the cost of thumbnails
        draw: Callable[[Screen, int], bytes] | None = None,  # screen, width; None: `thumbnail`
    ) -> None:
        self._collector = collector
        self._slots = {name: number for number, name in enumerate(devices)}
        self._clock = clock
        self._timer = timer
        self._thumbnail = draw or thumbnail
        self._dark = run is None
        self._lease = WatchLease(run or Path(), clock)
        self._file = SlotFile((run or Path()) / FOLDER / f"{collector}.phones", len(devices))
        self._told_until = 0.0  # when the learner's last `told_watched` expires
        self._watched_since: float | None = None
        self._spent = 0.0  # seconds of thumbnails since `_watched_since`
        self._pictures: dict[str, tuple[float, int, bytes]] = {}  # by phone: time, number, JPEG
        self._drawn: dict[str, tuple[str, int]] = {}  # by phone: address of the screen, width
        self._changes: dict[str, int] = {}
        self._late: set[str] = set()  # phones whose last screen was not drawn
        self._lock = threading.Lock()
        self._unsent: dict[str, Slot] = {}  # slots for `drain`, in the order of their first change
        self._sent: dict[str, int] = {}  # number of the last picture of each phone that was sent

    @property
    def watched(self) -> bool:
        """Whether anybody watches."""
        if self._dark or self._file.broken:
            return False
        now = self._clock()
        if not self._lease.holds and now >= self._told_until:
            self._watched_since, self._spent = None, 0.0
        elif self._watched_since is None:
            self._watched_since = now
        return self._watched_since is not None

    def told_watched(self) -> None:
        """Note that the learner reports a viewer; this is valid for as long as a lease."""
        self._told_until = self._clock() + LEASE_SECONDS

    def drain(self) -> LiveUpdate:
        """Return the changes since the last call, up to `RELAY_BYTES`; the rest comes later."""
        taken, room = {}, RELAY_BYTES
        with self._lock:
            for device, slot in list(self._unsent.items()):
                if self._sent.get(device) == slot.pictures:
                    slot = Slot(slot.changes, slot.pictures, slot.state, b"")
                room -= len(slot.state) + len(slot.picture)
                if room < 0:
                    break
                del self._unsent[device]
                taken[self._slots[device]] = slot
                self._sent[device] = slot.pictures
        return LiveUpdate(len(self._slots), taken)

    def show(
        self,
        lease: Lease[Any],
        stage: LiveStage,
        episode: Episode | None = None,  # in progress; its screen is shown while it waits
        decided: Decision | None = None,
        *,
        ended: Trajectory | None = None,
        fault: DistrlError | None = None,
    ) -> None:
        """Publish what a phone does, if it is watched."""
        device = lease.device.name
        if not self.watched or device not in self._slots:
            return
        decisions = ended.decisions if ended else episode.decisions if episode else ()
        task = (ended or episode or lease.assignment).task  # `Judge.begin` may have reworded it
        screen = episode.observation.screen if episode and decided is None else None
        self._publish(
            device, stage, task, lease.episode_id, len(decisions),
            decided or (decisions[-1] if decisions else None),
            screen=ended.screens[-1] if ended and stage == "delivering" else screen,
            ending=ended.ending.value if ended else "",
            fault=_fault_words(fault, ended),
        )  # fmt: skip

    def _publish(
        self,
        device: str,
        stage: LiveStage,
        task: Task,
        episode: str,
        steps: int,
        decision: Decision | None,
        *,
        screen: Screen | None,
        ending: str,
        fault: str,
    ) -> None:
        if screen is not None:
            self._picture(device, screen)
        state = PhoneState(
            device=device,
            collector=self._collector,
            stage=stage,
            written=round(self._clock(), 3),
            episode=episode,
            task=task.id,
            instruction=task.instruction[:MAX_TEXT],
            step=steps,
            step_limit=task.step_limit,
            action=described(decision.action) if decision else {},
            answer=decision.text[:MAX_TEXT] if decision else "",
            confidence=confidence(decision) if decision else None,
            version=decision.weight_version if decision else 0,
            pictured=device in self._pictures and device not in self._late,
            ending=ending,
            fault=fault[:MAX_TEXT],
        )
        self._write(device, plain_json(state))

    def close(self) -> None:
        """Stop publishing; what was written stays in the file."""
        self._file.close()

    def _may_draw(self, device: str) -> bool:
        now, since = self._clock(), self._watched_since
        if since is None or self._spent > BURST_SECONDS + SHARE * (now - since):
            return False
        return device not in self._pictures or now - self._pictures[device][0] >= PICTURE_SECONDS

    def _picture(self, device: str, screen: Screen) -> None:
        """Draw the screen, if the time budget allows and it differs from the last one drawn."""
        wanted = screen.address, FOLLOWED_WIDTH if device == self._lease.followed else WIDTH
        if self._drawn.get(device) == wanted:
            self._late.discard(device)
        elif self._may_draw(device):
            self._draw(device, screen, wanted[1])
            self._drawn[device] = wanted
            self._late.discard(device)
        else:
            self._late.add(device)

    def _draw(self, device: str, screen: Screen, width: int) -> None:
        begun = self._timer()
        _, number, _ = self._pictures.get(device, (0.0, 0, b""))
        picture = self._thumbnail(screen, width)
        if len(picture) > LARGEST_PICTURE and width > WIDTH:
            picture = self._thumbnail(screen, WIDTH)
        self._pictures[device] = self._clock(), number + 1, picture
        self._spent += self._timer() - begun

    def _write(self, device: str, state: bytes) -> None:
        _, number, picture = self._pictures.get(device, (0.0, 0, b""))
        self._changes[device] = changes = self._changes.get(device, 0) + 1
        slot = Slot(changes, number, state, picture)
        if not slot.fits:
            slot = Slot(changes, 0, state, b"")
        if self._lease.holds:  # the viewer reads this disk
            self._file.write(self._slots[device], slot)
            return
        with self._lock:
            self._unsent[device] = slot


def _fault_words(fault: DistrlError | None, ended: Trajectory | None) -> str:
    if fault is not None:
        return f"{type(fault).__name__}: {fault}"
    return " ".join(ended.notes) if ended is not None and ended.ending.broken else ""


def described(action: Action) -> dict[str, Any]:
    """Return the action as plain values, with its type under "kind"."""
    return {"kind": type(action).__name__, **asdict(action)}


def confidence(decision: Decision) -> float | None:
    """Return the geometric mean of the token probabilities; None if there are no tokens."""
    if not decision.log_probs:
        return None
    return math.exp(sum(decision.log_probs) / len(decision.log_probs))


def thumbnail(screen: Screen, width: int = WIDTH) -> bytes:
    """Return the screen as a small JPEG, averaged down by an integer factor: fast and clean."""
    factor = max(1, round(screen.width / width))
    small = Image.fromarray(screen.pixels).reduce(factor)
    encoded = io.BytesIO()
    small.save(encoded, "JPEG", quality=QUALITY)
    return encoded.getvalue()
