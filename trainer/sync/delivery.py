"""The record of a transfer and the checks of the workers' reports: two of the three checks of a sync; see `syncer`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from trainer.errors import StaleWeightsError
from trainer.sync.checksum import Checksum

Report = dict[str, Any]
Kind = Literal["full", "delta"]


@dataclass(frozen=True)
class Delivery:
    """A transfer of weights."""

    sent: Checksum  # of all weights, transferred or not
    reports: list[Report]
    bytes: int
    seconds: float
    kind: Kind = "full"
    density: float = 1.0  # share of numbers that changed since the last transfer; 1 if unknown

    @property
    def is_held_compared(self) -> bool:
        """Return whether all workers could compute the checksum of their model's weights."""
        return all(report["held"] is not None for report in self.reports)


def check_delivery(delivery: Delivery, version: int) -> None:
    """Compare the workers' reports with what was sent.

    Args:
        delivery: The transfer.
        version: The version of the weights.

    Raises:
        StaleWeightsError: A worker has another version or other weights.
    """
    for number, report in enumerate(delivery.reports):
        worker = f"worker {number} of vLLM"
        if report["version"] != version:
            raise StaleWeightsError(f"{worker} has version {report['version']} and should have {version}")
        if report["received"] != delivery.sent.as_json():
            raise StaleWeightsError(f"{worker} received other weights than were sent: {_differ(delivery.sent, report)}")
        if report["held"] is not None and report["held"] != delivery.sent.plain:
            raise StaleWeightsError(
                f"{worker} received version {version} but its model does not hold it: the checksum is "
                f"{report['held']}, not {delivery.sent.plain}"
            )


def _differ(sent: Checksum, report: Report) -> str:
    return f"{report['received']}, and should be {sent.as_json()}"
