"""Settings come from the environment, and nothing wrong in it passes unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_service.errors import ConfigurationError
from sandbox_service.settings import PREFIX, Settings


def read(**given: str) -> Settings:
    return Settings.from_environment({f"{PREFIX}{name.upper()}": value for name, value in given.items()})


def refusal(**given: str) -> str:
    with pytest.raises(ConfigurationError) as found:
        read(**given)
    return str(found.value)


def test_without_any_the_defaults_hold() -> None:
    assert Settings.from_environment({"PATH": "/bin", "HOME": "/root"}) == Settings()


def test_values_are_read() -> None:
    found = read(port="99", max_cpu_seconds="2.5", api_keys=" a, b ,,", slots="3")
    assert (found.port, found.max_cpu_seconds, found.slot_count) == (99, 2.5, 3)
    assert found.keys == {"a", "b"}


def test_no_number_of_slots_means_one_for_each_processor() -> None:
    assert Settings().slot_count >= 1
    assert Settings().keys == frozenset()


def test_an_unknown_variable_is_an_error_that_names_it() -> None:
    assert "SANDBOX_PROT" in refusal(prot="8080")
    assert "SANDBOX_" in refusal(**{"": "x"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "0"),
        ("port", "70000"),
        ("port", "http"),
        ("log_level", "loud"),
        ("slots", "-1"),
        ("slots", "two"),
        ("first_uid", "0"),
        ("recycle_after", "0"),
        ("canary_seconds", "0"),
        ("canary_seconds", "nan"),
        ("canary_seconds", "inf"),
        ("max_cpu_seconds", "-1"),
        ("max_cpu_seconds", "nan"),
        ("max_cpu_seconds", "inf"),
        ("max_wall_seconds", ""),
        ("max_memory_bytes", "1G"),
        ("max_output_bytes", "0"),
        ("max_processes", "0"),
        ("max_tests", "0"),
        ("display_bytes", "-1"),
        ("max_body_bytes", "10"),
        ("max_batch", "0"),
        ("queue_submissions", "0"),
        ("queue_bytes", "0"),
        ("keepalive_seconds", "0"),
        ("shutdown_seconds", "-1"),
        ("shutdown_seconds", "nan"),
    ],
)
def test_a_bad_value_is_an_error_that_names_the_variable(name: str, value: str) -> None:
    assert f"SANDBOX_{name.upper()} " in refusal(**{name: value})


def test_no_number_is_so_large_that_it_would_fail_only_when_it_is_used() -> None:
    amounts = {"key_submissions", "key_slot_seconds", "queue_cpu_seconds"}  # compared, and passed to nobody
    numbers = {name: field.annotation for name, field in Settings.model_fields.items() if field.annotation is not str}
    huge = {name: "9" * 30 if kind is int else "1e308" for name, kind in numbers.items() if kind in (int, float)}
    message = refusal(**huge)
    assert {name for name in huge if f"SANDBOX_{name.upper()} should be less" not in message} == amounts


@pytest.mark.parametrize(
    "name", ["example.org", "*.example.org", "a_b-c.org:8080", "localhost", "[::1]:80", "10.0.0.1"]
)
def test_hosts_have_names(name: str) -> None:
    assert read(hosts=name).host_names == (name,)


def test_all_that_is_wrong_is_named_at_once() -> None:
    message = refusal(port="x", slots="y", nonsense="z")
    assert all(f"SANDBOX_{name}" in message for name in ("PORT", "SLOTS", "NONSENSE"))


def test_a_secret_is_not_repeated() -> None:
    assert "hunter2" not in refusal(api_keys="hunter2", port="x")


def test_every_setting_says_what_it_is_for() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_redis_is_where_its_url_says() -> None:
    assert read(redis_url="redis://:a@h:1/2").redis == "redis://:a@h:1/2"
    assert Settings().redis == ""


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("redis://h:6379/0", "redis://:p%40s%2Fs@h:6379/0"),
        ("rediss://user@h", "rediss://user:p%40s%2Fs@h"),
    ],
)
def test_a_password_comes_from_its_file(url: str, whole: str, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("p@s/s\n")
    assert read(redis_url=url, redis_password_file=str(tmp_path / "password")).redis == whole


@pytest.mark.parametrize(
    ("url", "text", "reason"),
    [
        ("redis://h", "", "is empty"),
        ("redis://h", None, "No such file"),
        ("redis://:a@h", "b", "has a password already"),
        ("redis://[h", "b", "SANDBOX_REDIS_URL"),
    ],
)
def test_a_password_that_cannot_be_had_is_an_error(url: str, text: str | None, reason: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "password").write_text(text)
    with pytest.raises(ConfigurationError, match=reason):
        _ = read(redis_url=url, redis_password_file=str(tmp_path / "password")).redis
