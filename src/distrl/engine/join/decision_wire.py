"""An observation and its decision on the way between a joined collector and the learner's policy.

The messages are those between a collector and the policy process of its own machine
(`serving.decision_messages`); compressed screens travel beside them, as there is no shared memory.
Nothing is pickled. Requests are untrusted: `observation_in` checks sizes and content before
anything reaches the policy, and raises `JoinRefused`, whatever is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta

from distrl.engine.serving.decision_messages import (
    DecisionRequest,
    decision_request,
    observation_of,
)
from distrl.engine.serving.policy_server import ServerReport
from distrl.errors import DistrlError, JoinRefused
from distrl.records import Observation
from distrl.replay.compressed_screen import CompressedScreen, compress

MAX_REQUEST_BYTES = 1 << 24  # of one observation
MAX_SCREENS = 17  # the current one, and past ones
Side = Annotated[int, Meta(ge=16, le=1 << 12)]  # pixels
MAX_SIZES = 64  # of the screens of one collector
MAX_ACTIONS = 1000  # of one episode
MAX_TEXT_BYTES = 1 << 14  # of an instruction, or of a text that was typed
MAX_ELEMENT_BYTES = 1 << 20
SessionName = Annotated[str, Meta(max_length=100)]
MAX_ENDED = 1000  # sessions that one request may end


@dataclass(frozen=True, slots=True)
class PackedScreen:
    """A screen as it is stored: packed by zstd; `address` is the digest of its content."""

    packed: bytes
    height: Side
    width: Side
    address: Annotated[str, Meta(max_length=100)]


@dataclass(frozen=True, slots=True)
class Ask:
    """An observation to be decided on; the answer is a `PackedDecision`."""

    request: DecisionRequest
    screens: Annotated[tuple[PackedScreen, ...], Meta(min_length=1, max_length=MAX_SCREENS)]


@dataclass(frozen=True, slots=True)
class PolicyQuestion:
    """Asks for the report of the policy server, and whether its model can take screens of `sizes`.

    `ended` are episodes that are over.
    """

    ended: Annotated[tuple[SessionName, ...], Meta(max_length=MAX_ENDED)] = ()
    sizes: Annotated[
        tuple[tuple[Side, Side], ...], Meta(max_length=MAX_SIZES)
    ] = ()  # width, height


@dataclass(frozen=True, slots=True)
class PolicyAnswer:
    """The report of the policy server; None while it is loading."""

    report: ServerReport | None


def ask_for(number: int, session: str, observation: Observation) -> Ask:
    past = observation.past_screens[1 - MAX_SCREENS :]
    observation = replace(observation, past_screens=past)
    screens = map(compress, (*past, observation.screen))
    packed = (PackedScreen(s.packed, s.height, s.width, s.address) for s in screens)
    return Ask(decision_request(number, session, observation, 0, ()), tuple(packed))


def observation_in(ask: Ask) -> Observation:
    """Return the observation of an untrusted request, after checking that its screens unpack."""
    request = ask.request
    texts = [v for _, values in request.past_actions for v in values if isinstance(v, bytes)]
    if (
        len(request.session) > 100
        or len(request.past_actions) > MAX_ACTIONS
        or len(request.elements) > MAX_ELEMENT_BYTES
        or any(len(each) > MAX_TEXT_BYTES for each in (request.instruction, *texts))
    ):
        raise JoinRefused("an observation with longer texts than any of ours", "oversized", 413)
    try:
        screens = [CompressedScreen(s.packed, s.height, s.width, s.address) for s in ask.screens]
        for each in screens:
            each.verify()
        return observation_of(request, tuple(screens))
    except (DistrlError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise JoinRefused(f"an observation that cannot be read: {error}", "malformed") from error
