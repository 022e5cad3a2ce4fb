"""Counts stdin tests that shared a box, the audits of that, and the slots that stopped it, for metrics and `/healthz`.

It reads answers, so that it knows of graders on any machine. It logs each flip with the suite and the digest of the
submission, whose answer has the test and the output of the fresh box. The rule itself is in grading/sharing.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from sandbox_service.observe.events import EventBatcher
from sandbox_service.queues.observers import GradedEvent
from sandbox_service.schema import SharingAudit, Verdict

log = logging.getLogger(__name__)


class SharingCounts(Collector):
    """The counts since the start of this process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Count nothing yet.

        Args:
            registry: gets the metrics.
        """
        self._tests = self._audits = self._flips = self._stops = 0
        self._events: EventBatcher | None = None
        registry.register(self)

    def read_from(self, events: EventBatcher) -> None:
        """Count the answers of these events."""
        self._events = events
        events.subscribe(self._count)

    def _count(self, events: Sequence[GradedEvent]) -> None:
        for event in events:
            head = event.answer.head
            if head["grader"]["cached"]:
                continue
            self._tests += head.get("shared", 0)  # a worker of an older version sends none
            audit = head.get("sharing_audit")
            if audit is None:
                continue
            self._audits += 1
            self._stops += audit == SharingAudit.STOPPED
            if audit in (SharingAudit.FLIPPED, SharingAudit.STOPPED):
                self._flips += 1
                fields = {"suite": event.job.suite.id, "digest": event.job.digest.hex()}
                log.warning("shared_flip", extra={"before": Verdict.AC, "after": head["verdict"], **fields})

    def report(self) -> dict[str, object]:
        """Return the part of `/healthz` about shared boxes."""
        self._flush()
        return {"stopped": self._stops > 0, "tests": self._tests, "audits": self._audits, "flips": self._flips}

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client's Collector."""
        self._flush()
        counters = {
            "shared_tests": ("Stdin tests that passed in a box in which others had run", self._tests),
            "shared_audits": ("Submissions with a shared box that fresh boxes graded again", self._audits),
            "shared_flips": ("Submissions with a shared box that fresh boxes gave another verdict", self._flips),
        }
        for name, (text, value) in counters.items():
            yield CounterMetricFamily(f"proctor_{name}", text, value=value)
        yield GaugeMetricFamily("proctor_sharing_stopped", "Slots that share no boxes any more", value=self._stops)

    def _flush(self) -> None:
        if self._events is not None:
            self._events.flush()
