"""What was sent, and what each worker says of it: two of the three looks after a sync; see `syncer`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from trainer.errors import StaleWeights
from trainer.sync.checksum import Checksum

Report = dict[str, Any]
Kind = Literal["full", "delta"]


@dataclass(frozen=True)
class Delivery:
    """What travelled."""

    sent: Checksum  # of all weights, whether they travelled or not
    reports: list[Report]
    bytes: int
    seconds: float
    kind: Kind = "full"
    density: float = 1.0  # the share of the numbers that were not as they were sent last; 1 if nobody looked

    @property
    def is_held_compared(self) -> bool:
        """Whether all workers could say what their models hold."""
        return all(report["held"] is not None for report in self.reports)


def check(delivery: Delivery, version: int) -> None:
    """Whether all workers have what was sent. Raises StaleWeights with figures."""
    for number, report in enumerate(delivery.reports):
        who = f"worker {number} of vLLM"
        if report["version"] != version:
            raise StaleWeights(f"{who} has version {report['version']} and should have {version}")
        if report["received"] != delivery.sent.as_json():
            raise StaleWeights(f"{who} received other weights than were sent: {_differ(delivery.sent, report)}")
        if report["held"] is not None and report["held"] != delivery.sent.plain:
            raise StaleWeights(
                f"{who} received version {version} and its model does not hold it: the bits add up to "
                f"{report['held']}, and should to {delivery.sent.plain}"
            )


def _differ(sent: Checksum, report: Report) -> str:
    return f"{report['received']}, and should be {sent.as_json()}"
