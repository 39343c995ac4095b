"""A member's reports on its phones, with names that are unique in the run.

Each machine calls its phones `phone-0` and so on. In the run's files and on its pages they are
`PLACE-SLOT/phone-0`, so that a person knows which one to look after. Names and reasons are
untrusted texts: they are shortened and made printable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from distrl.engine.ingest.messages import Heartbeat
from distrl.engine.supervision.collector_registry import CollectorInfo
from distrl.engine.supervision.phone_records import printable

MAX_DEVICES = 1000  # of one member
MAX_NAME = 60  # characters of a device's own name


def of_member(info: CollectorInfo, heartbeat: Heartbeat | None) -> Heartbeat | None:
    """Return the heartbeat with its phones renamed for the whole run."""
    if heartbeat is None:
        return None

    def named(device: str) -> str:
        return printable(f"{info.place}-{info.number}/{device[:MAX_NAME]}")

    def renamed(about: Mapping[str, float]) -> dict[str, float]:
        return {named(device): each for device, each in islice(about.items(), MAX_DEVICES)}

    report, refusals = heartbeat.report, heartbeat.refusals
    troubles = islice(report.troubles.items(), MAX_DEVICES)
    report = replace(
        report,
        name=info.name,
        quarantined=tuple(map(named, report.quarantined[:MAX_DEVICES])),
        busy=renamed(report.busy),
        troubles={named(device): printable(why) for device, why in troubles},
        batcher=replace(report.batcher, notice=printable(report.batcher.notice)),
    )
    finished = tuple(replace(each, device=named(each.device)) for each in heartbeat.finished)
    if refusals is not None:
        mine = tuple(replace(each, device=named(each.device)) for each in refusals.refusals)
        refusals = replace(refusals, refusals=mine)
    return replace(heartbeat, report=report, finished=finished, refusals=refusals)
