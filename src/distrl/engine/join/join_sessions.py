"""The members of a run with their slots and sessions, and the counts of refused requests.

A member is a machine's spool directory. It keeps its slot for the whole run (`members.json`), so
that its deliveries after a restart of either side are still recognised as its own. Each join begins
a session and ends the previous one; only the newest session of a member is accepted.

`refusals` counts refused requests by reason; the run's faults have the same counts. Synchronous and
thread-safe.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from distrl.engine.join.join_messages import PROTOCOL, WINDOW, Hex, JoinRequest
from distrl.engine.supervision.collector_registry import (
    FIRST_JOINED,
    CollectorInfo,
    CollectorRegistry,
    Registration,
)
from distrl.errors import DataLost, JoinRefused
from distrl.json_lines import decode_line, encode_line
from distrl.runs.run_directory import write_whole

MAX_MEMBERS = 4096
MAX_SESSIONS = 1 << 16  # whose ids are remembered, so that none begins twice
MAX_PEERS = 4096  # whose failures are counted
MAX_FAILURES = 20  # of one peer in a row; each further one closes its connection
NUMBER = re.compile(r"\d{1,18}")
NAME = re.compile(r"collector-(\d+)\.\d+")


@dataclass(frozen=True, slots=True)
class Members:
    """The content of `members.json`: an id of the run, and the slot of each member."""

    run: str
    numbers: dict[Hex, int]


@dataclass(slots=True)
class Session:
    """One join of a member; `sequences`: the last number of each kind of request."""

    member: str
    info: CollectorInfo
    sequences: dict[str, int] = field(default_factory=dict)
    overtaken: dict[str, set[int]] = field(default_factory=dict)  # those in the `WINDOW`

    def take(self, kind: str, number: int) -> bool:
        """Use up the number of a request; return False if it was used or comes too late."""
        last, window = self.sequences.get(kind, -1), WINDOW.get(kind, 0)
        taken = self.overtaken.setdefault(kind, set())
        if number <= last - window or number in taken or (number <= last and not window):
            return False
        self.sequences[kind] = last = max(last, number)
        if window:
            taken.add(number)
            self.overtaken[kind] = {each for each in taken if each > last - window}
        return True

    def owns(self, trajectory_id: str) -> bool:
        """Return whether a trajectory is of this member, from any of its sessions."""
        name = NAME.fullmatch(trajectory_id.partition("/")[0])
        return name is not None and int(name[1]) == self.info.number


class JoinSessions:
    """The members and sessions of a run. Every request must carry `token`."""

    def __init__(self, registry: CollectorRegistry, token: str, file: Path) -> None:
        self.refusals: Counter[str] = Counter()
        self._registry = registry
        self._header = f"Bearer {token}".encode()
        self._file = file
        self._members = read_members(file)
        self._sessions: dict[str, Session] = {}
        self._newest: dict[str, str] = {}  # id of the session of each member
        self._begun: OrderedDict[str, None] = OrderedDict()  # ids of sessions, ended ones too
        self._failures: OrderedDict[str, int] = OrderedDict()  # in a row, by peer
        self._joining = threading.Lock()  # held while a join waits for the disk
        self._lock = threading.Lock()  # guards the above; never held for long

    @property
    def run(self) -> str:
        return self._members.run

    # Refusals -----------------------------------------------------------------------------------

    def check_token(self, header: str) -> None:
        """Raise `JoinRefused` unless the header is `Bearer TOKEN`; compare in constant time."""
        if not hmac.compare_digest(header.encode("utf-8", "replace"), self._header):
            raise JoinRefused(
                "that is not this run's token; copy the token file from the learner's machine",
                "wrong_token",
                401,
            )

    def refuse(self, refusal: JoinRefused, peer: str) -> bool:
        """Count a refusal; return True if the peer has failed so often that it is cut off."""
        with self._lock:
            self.refusals[refusal.reason] += 1
            self._registry.episode_log.faults[f"join_{refusal.reason}"] += 1
            failures = self._failures.pop(peer, 0) + 1
            self._failures[peer] = failures
            if len(self._failures) > MAX_PEERS:
                self._failures.popitem(last=False)
        if self.refusals[refusal.reason] == 1:  # report the first of each reason
            self._registry.say(f"refused a request of {peer} ({refusal.reason}): {refusal}")
        return failures > MAX_FAILURES

    def succeeded(self, peer: str) -> None:
        """Reset the failures of a peer: its request was accepted."""
        if peer in self._failures:
            with self._lock:
                self._failures.pop(peer, None)

    # Sessions -----------------------------------------------------------------------------------

    def join(self, request: JoinRequest) -> Registration:
        """Begin a session; return the collector's name and the state that it resumes from."""
        if request.protocol != PROTOCOL:
            raise JoinRefused(
                f"this learner speaks version {PROTOCOL} of the protocol, not {request.protocol}; "
                "install the same distrl on both machines",
                "other_version",
                426,
            )
        with self._joining:
            if request.session in self._begun:
                raise JoinRefused("this session was begun before", "replayed", 409)
            number = self._number(request.member)
            place = "".join(c if c.isprintable() else "?" for c in request.place) or "elsewhere"
            self._registry.admit(number)
            registration = self._registry.register(number, place)
            with self._lock:
                self._remember(request, Session(request.member, registration.info))
            return registration

    def _number(self, member: str) -> int:
        """Return the slot of that member; give a new member a new one."""
        numbers = self._members.numbers
        if member not in numbers:
            if len(numbers) >= MAX_MEMBERS:
                raise JoinRefused(f"{MAX_MEMBERS} have joined, which is the most", "full", 503)
            numbers[member] = FIRST_JOINED + len(numbers)
            write_whole(self._file, encode_line(self._members).decode())
        return numbers[member]

    def _remember(self, request: JoinRequest, session: Session) -> None:
        before = self._newest.get(request.member)
        if before is not None:
            self._sessions.pop(before, None)
        self._newest[request.member] = request.session
        self._sessions[request.session] = session
        self._begun[request.session] = None
        if len(self._begun) > MAX_SESSIONS:
            self._begun.popitem(last=False)

    def claim(self, session_id: str, kind: str, sequence: str) -> Session:
        """Return the session of a request, and use up the request's number."""
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None:
                raise JoinRefused("there is no such session; join again", "unknown_session", 410)
            if not NUMBER.fullmatch(sequence):
                raise JoinRefused(f"{sequence[:20]!r} is no number of a request", "malformed")
            if not session.take(kind, int(sequence)):
                last = session.sequences[kind]
                raise JoinRefused(
                    f"request {sequence} came before, or after request {last}", "replayed", 409
                )
            return session

    def leave(self, session: Session) -> None:
        with self._lock:
            session_id = self._newest.get(session.member)
            if session_id is not None and self._sessions.get(session_id) is session:
                del self._sessions[session_id], self._newest[session.member]

    def __len__(self) -> int:
        return len(self._sessions)


def read_members(file: Path) -> Members:
    """Read `members.json`; without that file return a new run id and no members."""
    if not file.exists():
        return Members(secrets.token_hex(16), {})
    try:
        return decode_line(file.read_bytes(), Members)
    except (OSError, ValueError) as error:
        raise DataLost(
            f"{file} cannot be read ({error}); it says which collectors of other machines have "
            "joined this run: restore it, or remove it, and what they have not delivered is lost"
        ) from error
