"""What to buy next: the same system with a little more of each thing, simulated again.

"A little more" is a tenth, and at least one, so that the gain exceeds the noise. New settings are
tried as well: people buy GPUs where a setting would have been enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from distrl.planning.plan_settings import PlanSettings
from distrl.planning.simulation import Prediction, simulate

WORTH_IT = 0.01  # gains below this are noise
WORTH_A_SETTING = 0.05


Offer = tuple[str, float | None, PlanSettings]  # name, price as in `Gain`, the changed system


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of an offer, as shares of the current rates."""

    name: str
    price: float | None  # None: a setting; 0: no price was given
    trajectories: float
    updates: float


def offers(settings: PlanSettings) -> Iterator[Offer]:
    """Yield the changed systems to simulate: hardware first, then settings."""
    phones, policy, learner = settings.phones, settings.policy, settings.learner
    prices = settings.prices
    more = _more(phones.count)
    grown = replace(settings, phones=replace(phones, count=phones.count + more))
    yield _counted(more, "phone", "phones"), more * prices.phone, grown
    more = _more(policy.copies)
    if policy.copies + more <= phones.count:
        grown = replace(settings, policy=replace(policy, copies=policy.copies + more))
        name = _counted(more, "GPU that decides", "GPUs that decide")
        yield name, more * prices.policy_gpu, grown
    if learner.gpus:
        more = _more(learner.gpus)
        grown = replace(settings, learner=replace(learner, gpus=learner.gpus + more))
        name = _counted(more, "GPU that learns", "GPUs that learn")
        yield name, more * prices.learner_gpu, grown
        yield from _settings(settings)


def _settings(settings: PlanSettings) -> Iterator[Offer]:
    learner, pacing = settings.learner, settings.pacing
    limit = learner.staleness
    if limit.at_start is not None:
        start = max(1, 2 * limit.at_start)
        arrival = None if limit.at_arrival is None else max(start, limit.at_arrival)
        looser = replace(limit, at_start=start, at_arrival=arrival)
        changed = replace(settings, learner=replace(learner, staleness=looser))
        yield f"staleness.at_start = {start}", None, changed
    fewer = replace(pacing, samples_per_insert=pacing.samples_per_insert / 2)
    changed = replace(settings, pacing=fewer)
    yield f"samples_per_insert = {fewer.samples_per_insert:g}", None, changed
    later = 2 * learner.updates_per_publish
    changed = replace(settings, learner=replace(learner, updates_per_publish=later))
    yield f"updates_per_publish = {later}", None, changed


def _counted(more: int, one: str, many: str) -> str:
    return f"+1 {one}" if more == 1 else f"+{more} {many}"


def _more(count: int) -> int:
    return max(1, round(count / 10))


def weigh(
    settings: PlanSettings, now: Prediction, seed: int = 0, minutes: float | None = None
) -> list[Gain]:
    gains = []
    for name, price, changed in offers(settings):
        then = simulate(changed, seed, minutes)
        trajectories = then.trajectories_per_minute / max(1e-9, now.trajectories_per_minute) - 1.0
        updates = then.updates_per_minute / max(1e-9, now.updates_per_minute) - 1.0
        gains.append(Gain(name, price, trajectories, updates if now.learner_gpus else 0.0))
    return gains


def advice(now: Prediction, gains: Sequence[Gain], wanted_samples: float) -> str:
    """Say in a few sentences what limits the system, and what to do about it."""
    return f"{_limit(now)} {_purchase(gains)}{_setting(gains)}{_short(now, wanted_samples)}"


def _limit(now: Prediction) -> str:
    waits = {
        "for a decision": now.phone_time["decide"],
        "to be let start (staleness and pace)": now.phone_time["admission"],
        "for the learner to take in what they bring": now.phone_time["deliver"],
        "for their collectors": now.phone_time["own"],
    }
    longest = max(waits, key=lambda name: waits[name])
    busy = f"Phones are busy {now.device_busy:.0%} of their time"
    if waits[longest] < 0.02:
        return f"{busy}: they are what limits this system."
    return f"{busy}; for {waits[longest]:.0%} of it they wait {longest}."


def _purchase(gains: Sequence[Gain]) -> str:
    worth = [each for each in gains if each.price is not None and each.trajectories >= WORTH_IT]
    if not worth:
        return "Nothing that can be bought would bring more trajectories."
    priced = all(each.price for each in worth)
    best = max(worth, key=lambda each: each.trajectories / ((priced and each.price) or 1.0))
    by = " for its price" if priced else ""
    return f"Buy next: {best.name}, {best.trajectories:+.1%} trajectories{by}."


def _setting(gains: Sequence[Gain]) -> str:
    free = [each for each in gains if each.price is None]
    best = max(free, key=lambda each: each.trajectories, default=None)
    if best is None or best.trajectories < WORTH_A_SETTING:
        return ""
    return (
        f" Without buying: {best.name} would bring {best.trajectories:+.1%}; mind what it "
        "does to learning."
    )


def _short(now: Prediction, wanted: float) -> str:
    if not now.learner_gpus or now.samples_per_insert >= 0.95 * wanted:
        return ""
    return (
        f" The learner falls behind: {now.samples_per_insert:.2f} draws per trajectory where "
        f"{wanted:g} are wanted."
    )
