"""Metrics of API keys, by the keys' labels: submissions, time in slots, and requests that were over a quota.

Only keys of the settings are counted, and beyond `MOST_KEYS` labels all others together, so that the number of time
series is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from sandbox_service.bounds.api_keys import KeyTerms
from sandbox_service.observe.events import EventBatcher
from sandbox_service.queues.observers import GradedEvent
from sandbox_service.queues.quotas import key_of

MOST_KEYS = 100
OTHERS = "others"


class KeyMetrics(Collector):
    """Counts of each key since the start of this process.

    Args:
        terms: What the settings say of each key, by its name.
        refused: How many requests were over a quota, by the key's name; read at each scrape.
        events: The answers.
        registry: Gets the metrics.
    """

    def __init__(
        self,
        terms: Mapping[str, KeyTerms],
        refused: Mapping[str, int],
        events: EventBatcher,
        registry: CollectorRegistry,
    ) -> None:
        self._labels = {name: each.label or name for name, each in list(terms.items())[:MOST_KEYS]}
        self._refused = refused
        self._submissions = Counter(dict.fromkeys(self._labels.values(), 0))
        self._slot_seconds = Counter[str]()
        self._flush = events.flush
        if terms:
            events.subscribe(self._count)
        registry.register(self)

    def _count(self, events: Sequence[GradedEvent]) -> None:
        for event in events:
            label = self._labels.get(key_of(event.job), OTHERS)
            self._submissions[label] += 1
            self._slot_seconds[label] += event.answer.head["timing"]["graded_seconds"]

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client's Collector."""
        self._flush()
        refused = Counter[str]()
        for name, count in self._refused.items():
            refused[self._labels.get(name, OTHERS)] += count
        for name, text, counts in (
            ("submissions", "Submissions that were answered, by API key", self._submissions),
            ("slot_seconds", "Seconds in slots, by API key", self._slot_seconds),
            ("refused", "Requests over a quota, by API key", refused),
        ):
            family = CounterMetricFamily(f"proctor_key_{name}", text, labels=["key"])
            for label in self._submissions:
                family.add_metric([label], counts[label])
            yield family
