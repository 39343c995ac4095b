"""The digests of published versions, to compare with what collectors say that they act with.

Weights that never reach the policy that acts are the costliest silent failure of asynchronous
training: episodes carry the number of a version that did not play them. So the acting side computes
a digest of its own parameters after each change (`agent.weight_digest`) and reports it with the
version; a digest that is not the published one stops the run. Versions of an earlier process, whose
digests are not known here, are not compared, nor is a policy behind `agent.server`, which makes
none: there the samples of `learning.policy_watch` are all that is compared.
"""

from __future__ import annotations

from collections import OrderedDict

from distrl.errors import WeightsDiffer

KEPT = 10_000  # versions; collectors lag behind by tens


class WeightDigests:
    """Digests by version. The learner adds them before it publishes."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, str] = OrderedDict()

    def add(self, version: int, digest: str) -> None:
        self._known[version] = digest
        if len(self._known) > KEPT:
            self._known.popitem(last=False)

    def check(self, who: str, version: int, digest: str) -> None:
        """Raise `WeightsDiffer` where `who` acts with other weights than this version's.

        An empty digest is none: not computed there.
        """
        published = self._known.get(version)
        if digest and published is not None and digest != published:
            raise WeightsDiffer(
                f"{who} acts with weights of digest {digest} under version {version}, which was "
                f"published with digest {published}: the acting side did not load what the learner "
                "sent. What it has played since the version before is not to be trusted; see its "
                "log, and that all machines have the same model and the same version of distrl"
            )
