"""URLs that name sentinels. tests/fleet/test_failover.py shows that connections follow the master."""

from __future__ import annotations

import pytest

from sandbox_service.fleet import failover
from sandbox_service.settings import Settings


def test_a_url_without_sentinels_is_left_as_it_is() -> None:
    assert failover.split("redis://:secret@10.0.0.1:6379/3") == ("redis://:secret@10.0.0.1:6379/3", None)


def test_sentinels_a_master_and_a_database() -> None:
    url, watched = failover.split("redis+sentinel://me:secret@a:1,b,[::1]:3/books/5?sentinel_password=other")
    assert url == "redis://me:secret@master.invalid:1/5"
    assert watched == failover.Watched((("a", 1), ("b", 26379), ("::1", 3)), "books", "other", is_encrypted=False)


def test_over_tls() -> None:
    url, watched = failover.split("rediss+sentinel://a/books")
    assert url == "rediss://master.invalid:1/0"
    assert watched is not None
    assert (watched.is_encrypted, watched.password) == (True, None)


@pytest.mark.parametrize(
    "url", ["redis+sentinel://a:1", "redis+sentinel://a:x/books", "redis+sentinel://,/books", "http+sentinel://a/books"]
)
def test_what_makes_no_sense_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"sentinel|port|master|scheme|Port"):
        failover.split(url)


def test_a_password_from_a_file_goes_to_redis(tmp_path: object) -> None:
    path = f"{tmp_path}/password"
    with open(path, "w") as file:  # noqa: PTH123
        file.write("a@b\n")
    settings = Settings(redis_url="redis+sentinel://a:1,b:2/books", redis_password_file=path)
    url, watched = failover.split(settings.redis)
    assert url == "redis://:a%40b@master.invalid:1/0"
    assert watched is not None
    assert watched.sentinels == (("a", 1), ("b", 2))
