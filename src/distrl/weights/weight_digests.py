"""The digests of published versions, to check that collectors act with the weights they report.

Weights that never reach the acting policy are the costliest silent failure of asynchronous
training: episodes carry the number of a version that did not play them. So a collector computes a
digest of its own parameters after each change (`agent.weight_digest`) and reports it with the
version; if it differs from the published digest, the run stops. Versions of an earlier process are
not compared, because their digests are not known here. A policy behind `agent.server` computes no
digest; there only `learning.policy_watch` compares, by samples.
"""

from __future__ import annotations

from collections import OrderedDict

from distrl.errors import WeightsDiffer

KEPT = 10_000  # versions; collectors lag by tens of versions


class WeightDigests:
    """Digests by version. The learner adds them before it publishes."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, str] = OrderedDict()

    def add(self, version: int, digest: str) -> None:
        self._known[version] = digest
        if len(self._known) > KEPT:
            self._known.popitem(last=False)

    def check(self, who: str, version: int, digest: str) -> None:
        """Raise `WeightsDiffer` if `who` acts with other weights than this version's.

        An empty digest means that it was not computed.
        """
        published = self._known.get(version)
        if digest and published is not None and digest != published:
            raise WeightsDiffer(
                f"{who} acts with weights of digest {digest} under version {version}, which was "
                f"published with digest {published}: the acting side did not load what the learner "
                "sent. What it has played since the version before is not to be trusted; see its "
                "log, and that all machines have the same model and the same version of distrl"
            )
