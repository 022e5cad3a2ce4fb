"""The log about a Redis that is away, and the refusal of one that cannot be used."""

from __future__ import annotations

import logging
from typing import Any
from unittest.mock import Mock

import pytest
from redis.exceptions import ResponseError

from sandbox_service.errors import ConfigurationError
from sandbox_service.fleet import failover, wakeup
from sandbox_service.fleet.outage import Outage
from tests.redis_server import running_redis


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that an outage sees; the test sets it."""
    clock = [0.0]
    monkeypatch.setattr("sandbox_service.fleet.outage.time.monotonic", lambda: clock[0])
    return clock


def said(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """The events, each with its address."""
    return [(record.getMessage(), vars(record)["address"]) for record in caplog.records]


def test_the_same_failure_is_logged_once_a_minute(now: list[float], caplog: pytest.LogCaptureFixture) -> None:
    away = Outage("host:6379")
    for now[0] in range(100, 250):
        away.failed(ConnectionError("refused"))
    assert said(caplog) == [("redis_away", "host:6379")] * 3
    assert away.reason == "refused"


def test_another_reason_is_logged_at_once(now: list[float], caplog: pytest.LogCaptureFixture) -> None:
    away, now[0] = Outage(), 100.0
    away.failed(ConnectionError("refused"))
    away.failed(TimeoutError())
    assert [vars(record)["reason"] for record in caplog.records] == ["refused", "TimeoutError"]


def test_its_end_is_logged_once_and_alternating_results_do_not_fill_the_log(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    away, now[0] = Outage("host:6379"), 100.0
    away.succeeded()
    assert not caplog.records, "there was no outage"
    for _ in range(5):
        away.failed(ConnectionError("full"))
        away.succeeded()
    assert said(caplog) == [("redis_away", "host:6379"), ("redis_back", "host:6379")]
    assert away.reason == ""


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://:secret@host:7000/1", "host:7000"),
        ("rediss://user:secret@host", "host:6379"),
        ("unix:///run/redis.sock?db=1", "/run/redis.sock"),
        ("redis+sentinel://:secret@a:1,b:2/main/0", "main, watched by a:1, b:2"),
    ],
)
def test_an_address_has_no_password(url: str, address: str) -> None:
    assert failover.address(url) == address


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("foo", "begins with none of redis://"),
        ("http://host", "begins with none of redis://"),
        ("redis://", "has no host"),
        ("redis://:secret@", "has no host"),
        ("redis://host:99999", "Port out of range"),
        ("redis://host:abc", "Port could not be cast"),
        ("unix://", "the path of a socket"),
        ("foo+sentinel://host/main", "is no scheme"),
    ],
)
def test_a_url_that_cannot_work_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=f"SANDBOX_REDIS_URL: .*{reason}"):
        wakeup.require_usable(url, "proctor")


def test_a_wrong_password_is_refused_with_the_address_and_without_the_password() -> None:
    with running_redis("--requirepass", "right") as redis:
        for wrong in (redis.url, redis.url.replace("redis://", "redis://:hunter2@")):
            with pytest.raises(ConfigurationError, match=f"127.0.0.1:{redis.port} refuses its password") as refusal:
                wakeup.require_usable(wrong, "proctor")
            assert "hunter2" not in str(refusal.value)
        wakeup.require_usable(redis.url.replace("redis://", "redis://:right@"), "proctor")


def test_a_user_without_rights_is_not_told_of_a_password() -> None:
    rights = "user default on nopass ~* &* +@all -info".split()
    with running_redis(*(f"--{rights[0]}", *rights[1:])) as redis, pytest.raises(ConfigurationError) as refusal:
        wakeup.require_usable(redis.url, "proctor")
    assert f"127.0.0.1:{redis.port} refuses what the fleet needs: " in str(refusal.value)
    assert "password" not in str(refusal.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (ResponseError("unknown command `HELLO`"), "unknown command `HELLO`; the fleet needs Redis 7.0 or newer"),
        ({"redis_version": "6.2.14"}, "is Redis 6.2.14; the fleet needs Redis 7.0 or newer"),
    ],
)
def test_an_older_redis_is_refused(asked: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Mock(info=Mock(side_effect=[asked]), zrange=Mock(return_value=[]))
    monkeypatch.setattr(wakeup, "_connect", lambda _: connection)
    with pytest.raises(ConfigurationError, match=said):
        wakeup.require_usable("redis://127.0.0.1:6379", "proctor")
