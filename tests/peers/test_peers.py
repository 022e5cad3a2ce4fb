"""The peers' own tests against the service: each has the outcome that its table expects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import Service
from tests.peers import peers
from tests.peers.peers import PEERS, Outcome, Peer


@pytest.mark.full
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_s_own_tests(peer: Peer, service: Service, tmp_path: Path) -> None:
    if (reason := peers.missing(peer)) is not None:
        pytest.skip(reason)
    found = peers.outcomes(peer, service.client.url, tmp_path / "report")
    counts = Counter(each.outcome for each in found.values())
    print(f"\n{peer.name}: {len(found)} tests: {dict(counts)}")
    assert not peers.surprises(peer, found)


def test_every_table_can_be_read() -> None:
    for peer in PEERS:
        for tests in peers.expected(peer).values():
            assert all(reason for reason in tests.values())


def test_a_silent_difference_is_a_surprise() -> None:
    found = {
        "a": Outcome("passed", ""),
        "b": Outcome("refused", "422"),
        "c": Outcome("failed", "it accepts nothing"),
    }
    assert peers.surprises(PEERS[0], found) == ["c: failed, expected passed: it accepts nothing"]
