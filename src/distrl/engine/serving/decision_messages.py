"""The messages between a collector without a policy and the policy process of its machine.

    collector → server   DecisionRequest, EndSession, ReportRequest
    server → collector   Decisions, `ServerReport`

They are sent like those of `ingest.messages`; nothing is pickled. The screens of an observation are
in shared memory, packed (`screen_memory`). An action is sent as the name of its class and its
values in order. Texts are sent as bytes, since a policy may write halves of surrogate pairs, which
msgpack refuses. Elements are sent as the bytes of their JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any, get_args

from distrl.engine.serving.screen_memory import WrittenScreen, written
from distrl.errors import DistrlError, UsageError
from distrl.hierarchy import Element, Elements, element_rows, elements_of_rows
from distrl.records import Action, Decision, Observation, Screen
from distrl.replay.compressed_screen import CompressedScreen

Value = float | bytes
PackedAction = tuple[str, tuple[Value, ...]]
ACTIONS: dict[str, Callable[..., Action]] = {kind.__name__: kind for kind in get_args(Action)}


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """An observation to be decided; the answer carries the same `number`."""

    number: int
    session: str
    instruction: bytes
    past_actions: tuple[PackedAction, ...]
    offset: int  # of its screens in the shared memory, oldest first
    screens: tuple[WrittenScreen, ...]
    elements: bytes = b""  # those of the screen, and what past actions touched; empty: none


@dataclass(frozen=True, slots=True)
class EndSession:
    """The episode is over."""

    session: str


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """Asks for the server's report."""


@dataclass(frozen=True, slots=True)
class PackedDecision:
    """The decision on the request of that number."""

    number: int
    action: PackedAction
    text: bytes
    token_ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    weight_version: int


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions that were made together for one collector."""

    decided: tuple[PackedDecision, ...]


def decision_request(
    number: int,
    session: str,
    observation: Observation,
    offset: int,
    screens: Sequence[CompressedScreen],
) -> DecisionRequest:
    """The request for an observation whose screens are at that offset, oldest first."""
    return DecisionRequest(
        number,
        session,
        _bytes(observation.instruction),
        tuple(map(_packed, observation.past_actions)),
        offset,
        tuple(map(written, screens)),
        _packed_elements(observation),
    )


def observation_of(request: DecisionRequest, screens: Sequence[Screen]) -> Observation:
    """The observation of a request."""
    *past_screens, screen = screens
    past_actions = tuple(map(_unpacked, request.past_actions))
    return Observation(
        _text(request.instruction),
        screen,
        past_actions,
        tuple(past_screens),
        *_unpacked_elements(request.elements),
    )


def _packed_elements(observation: Observation) -> bytes:
    if not observation.elements and not observation.touched:
        return b""
    touched = [None if each is None else element_rows([each])[0] for each in observation.touched]
    rows = [element_rows(observation.elements), touched]
    return json.dumps(rows, separators=(",", ":")).encode("ascii")


def _unpacked_elements(packed: bytes) -> tuple[Elements, tuple[Element | None, ...]]:
    if not packed:
        return (), ()
    rows, touched = json.loads(packed)
    past = (None if row is None else elements_of_rows([row])[0] for row in touched)
    return elements_of_rows(rows), tuple(past)


def packed_decision(number: int, decision: Decision) -> PackedDecision:
    return PackedDecision(
        number,
        _packed(decision.action),
        _bytes(decision.text),
        decision.token_ids,
        decision.log_probs,
        decision.weight_version,
    )


def decision_of(packed: PackedDecision) -> Decision:
    return Decision(
        _unpacked(packed.action),
        _text(packed.text),
        packed.token_ids,
        packed.log_probs,
        packed.weight_version,
    )


def _packed(action: Action) -> PackedAction:
    kind: Any = type(action)
    values = (getter(action) for getter in _getters(kind))
    return kind.__name__, tuple(_bytes(v) if isinstance(v, str) else v for v in values)


def _unpacked(packed: PackedAction) -> Action:
    name, values = packed
    try:
        return ACTIONS[name](*(_text(v) if isinstance(v, bytes) else v for v in values))
    except (KeyError, TypeError, DistrlError) as error:
        raise UsageError(
            f"an action {name!r} of {len(values)} values cannot be read ({error}); are both sides "
            "of one version of distrl?"
        ) from error


@cache
def _getters(kind: Any) -> tuple[Callable[[Any], Any], ...]:
    return tuple(attrgetter(each.name) for each in fields(kind))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise UsageError(f"a text that cannot be read ({error})") from error
