"""Alerts and dashboard speak of metrics that there are, and work with a real Prometheus that scraped a real service.

Grafana itself is not here: its panels' expressions are taken from the file and evaluated.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Service, running_service
from tests.http import Client
from tests.ports import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "proctor.json").read_text())
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

EMPTY = "Normally empty"  # begins the description of panels that have no data while all is well
GUARD_SECONDS = 60.0
SCRAPES = 6

UNUSED_ON_PURPOSE = r"_created$"  # when a counter began: Prometheus's own business

TEST = {"type": "stdin", "input": "1\n", "output": "2\n"}
ENDS: dict[str, dict[str, Any]] = {
    "AC": {"code": "print(int(input()) + 1)"},
    "WA": {"code": "print(int(input()))"},
    "RTE": {"code": "1 / 0"},
    "CE": {"code": "("},
    "TLE": {"code": "while True: pass", "limits": {"cpu_seconds": 0.1}},
    "IE": {"code": "", "tests": [{"type": "assert", "code": "assert 1 =="}]},
}


def promtool(*arguments: str) -> str:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    done = subprocess.run(["promtool", *arguments], cwd=RULES, capture_output=True, text=True, timeout=GUARD_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- the files alone


def test_prometheus_takes_its_configuration_and_its_rules() -> None:
    assert "SUCCESS" in promtool("check", "config", "prometheus.yml")
    assert "SUCCESS" in promtool("check", "rules", "alerts.yml")


def test_each_alert_fires_when_it_should_and_not_when_it_should_not() -> None:
    assert "SUCCESS" in promtool("test", "rules", "alerts_test.yml")


def test_each_alert_has_tests_and_says_what_to_do() -> None:
    rules = (RULES / "alerts.yml").read_text().split("- alert: ")[1:]
    tests = (RULES / "alerts_test.yml").read_text()
    assert len(rules) >= 10
    for rule in rules:
        name = rule.split()[0]
        assert rule.count("summary:") == rule.count("description:") == rule.count("action:") == 1, name
        assert re.search(r"severity: (page|ticket)", rule), name
        assert re.search(rf"alertname: {name}, exp_alerts: \[\]", tests), f"{name} is never expected to be silent"
        assert re.search(rf"alertname: {name}\n +exp_alerts:\n +- exp_labels", tests), f"{name} is never expected"


def test_the_dashboard_is_whole() -> None:
    variables = {each["name"] for each in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource", "instance"}
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, f"{panel['title']} lies over another"
        assert all(x < 24 for x, _ in cells), panel["title"]
        taken |= cells
    for panel in PANELS:
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        for target in (panel, *panel["targets"]):
            assert target["datasource"]["uid"] == "${datasource}", panel["title"]
        assert all("$instance" in target["expr"] for target in panel["targets"]), panel["title"]


# --- with a service that has graded


class ClientWithKey(Client):
    """A client that sends an API key."""

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        return super().request(method, path, body, {"Authorization": "Bearer chief", **(headers or {})})


@pytest.fixture(scope="module")
def busy() -> Iterator[Service]:
    """A service that caches and grades twice, and has a key."""
    with running_service(cache_seconds=600, recheck_share=1, slots=2, admin_keys="chief") as service:
        service.client = ClientWithKey(service.client.url)
        yield service


class Server:
    """A running Prometheus."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/api/v1"

    def get(self, path: str, **query: str) -> Any:
        url = f"{self._url}/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=GUARD_SECONDS) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]

    def values(self, expression: str) -> list[float]:
        """What an expression is now."""
        return [float(each["value"][1]) for each in self.get("query", query=expression)["result"]]


@pytest.fixture(scope="module")
def prometheus(busy: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Our configuration but for the address and the interval; it has scraped while submissions of every kind came."""
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not installed: apt-get install prometheus")
    folder, port = tmp_path_factory.mktemp("prometheus"), free_port()
    config = (RULES / "prometheus.yml").read_text()
    assert "127.0.0.1:8080" in config
    config = config.replace("127.0.0.1:8080", f"127.0.0.1:{busy.port}").replace("interval: 15s", "interval: 1s")
    (folder / "prometheus.yml").write_text(config)
    shutil.copy(RULES / "alerts.yml", folder)
    command = ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=warn"]
    process = subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}"], cwd=folder)
    try:
        server = Server(port)
        grade_until_scraped(busy, server)
        yield server
    finally:
        process.terminate()
        process.wait(GUARD_SECONDS)


def grade_until_scraped(service: Service, server: Server) -> None:
    """Every kind of submission again and again, new ones and old, while Prometheus looks at it some times."""
    end, turn = time.monotonic() + GUARD_SECONDS, 0
    while True:
        for verdict, given in ENDS.items():
            body = {"tests": [TEST]} | given | {"code": f"{given['code']}\n# {turn}"}
            for _ in range(2):
                assert service.grade(**body)["verdict"] == verdict
        turn += 1
        time.sleep(0.2)
        try:
            [scrapes] = server.values('count_over_time(proctor_tests_total{verdict="AC"}[1h])')
        except (OSError, ValueError):
            scrapes = 0
        if scrapes >= SCRAPES:
            return
        assert time.monotonic() < end, "Prometheus does not scrape"


def filled(expression: str) -> str:
    """An expression as Grafana would ask it with all instances."""
    whole = expression.replace("$__rate_interval", "1m").replace("$instance", ".*")
    assert "$" not in whole
    return whole


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: str(panel["title"]))
def test_each_panel_shows_something(prometheus: Server, panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        values = prometheus.values(filled(target["expr"]))
        assert values or panel.get("description", "").startswith(EMPTY), target["expr"]
        assert not any(map(math.isnan, values)), target["expr"]


def test_panels_that_are_normally_empty_show_the_faults_that_there_were(prometheus: Server) -> None:
    empty = [panel for panel in PANELS if panel.get("description", "").startswith(EMPTY)]
    assert empty
    for panel in empty:
        assert max(prometheus.values(filled(panel["targets"][0]["expr"]))) > 0, panel["title"]


def test_what_is_shown_is_what_happened(prometheus: Server, busy: Service) -> None:
    [share] = prometheus.values("sum(proctor_answer_seconds_count{verdict='AC'}) / sum(proctor_answer_seconds_count)")
    assert abs(share - 1 / len(ENDS)) < 0.05
    [cached] = prometheus.values("proctor_events_total{kind='cached'}")
    assert cached > 0
    assert prometheus.values("proctor_verdict_flips_total") == [0]
    assert prometheus.values("proctor_slots") == [2]


def test_the_rules_are_evaluated_and_only_the_faults_that_we_made_are_pending(prometheus: Server) -> None:
    rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
    assert {rule["health"] for rule in rules} == {"ok"}
    assert {rule["name"] for rule in rules if rule["state"] != "inactive"} <= {"ProctorFaults"}


# --- names


def exported(service: Service) -> set[str]:
    """The names of all series that there may be."""
    _, text = service.client.request("GET", "/metrics")
    found: set[str] = set()
    for name, kind in re.findall(r"^# TYPE (proctor_\w+) (\w+)$", text.decode(), re.MULTILINE):
        found |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
    return found


def used() -> dict[str, set[str]]:
    """The names that our files name, and by which."""
    found: dict[str, set[str]] = {}
    for path in [*DEPLOY.rglob("*.yml"), *DEPLOY.rglob("*.yaml"), *DEPLOY.rglob("*.json")]:
        for name in re.findall(r"\bproctor_(?:[a-z]+_)*[a-z]+\b(?=[{\[ )\\\"]|$)", path.read_text(), re.MULTILINE):
            found.setdefault(name, set()).add(path.name)
    return found


def test_every_metric_that_is_named_is_exported(busy: Service) -> None:
    there = exported(busy)
    assert {name: files for name, files in used().items() if name not in there} == {}


def test_every_metric_that_is_exported_is_looked_at_or_left_out_on_purpose(busy: Service) -> None:
    shown = set(re.findall(r"proctor_\w+", "".join(target["expr"] for panel in PANELS for target in panel["targets"])))
    left = {name for name in exported(busy) - shown if not re.search(UNUSED_ON_PURPOSE, name)}
    assert left == set()
