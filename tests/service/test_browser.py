"""A page of another site cannot have its reader's browser use or read the service; other clients are not concerned."""

from __future__ import annotations

import http.client
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox_service.api.browser_guard import is_private
from tests.browser import browser
from tests.conftest import Service, running_service

SUBMISSION = json.dumps(
    {"id": "by-a-page", "code": "print(3)", "tests": [{"type": "stdin", "output": "the-secret-answer"}]}
)
SHOW = [
    "/v1/recent",
    "/v1/events",
    "/v1/status",
    "/v1/submissions/x",
    "/metrics",
    "/docs",
    "/openapi.json",
    "/",
    "/healthz",
    "/languages",
]
CHANGE = [
    "/v1/grade",
    "/v1/grade/batch",
    "/v1/submissions",
    "/run_code",
    "/submit",
    "/get_reward",
    "/verify",
    "/submissions",
    "/api/v2/execute",
]


def status(service: Service, method: str, path: str, headers: dict[str, str], body: str | None = None) -> int:
    """Of a request with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": f"127.0.0.1:{service.port}"} | headers
        for name, value in given.items():
            if value:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body.encode() if body is not None else None)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("host", "is_so"),
    [
        ("127.0.0.1", True), ("127.0.0.1:8080", True), ("10.1.2.3", True), ("[::1]:8080", True), ("localhost:1", True),
        ("localhost.", True), ("api:8080", True), ("proctor", True), ("proctor.internal", True), ("a.localhost", True),
        ("proctor.default.svc.cluster.local", True), ("proctor.default.svc", True), ("2130706433", True),
        ("evil.example", False), ("evil.example:8080", False), ("evil.example.", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False), ("evil.local", False), ("internal.evil.example", False), ("a@b", False),
        ("127.0.0.1:8080.evil.example", False), ("", False), ("[evil.example]", False), ("notinternal.example", False),
        ("1.2.3.4.5", False), ("xn--e1afmkfd.example", False), ("evil.example:80:80", False), ("a b", False),
    ],
)  # fmt: skip
def test_which_names_nobody_outside_can_own(host: str, is_so: bool) -> None:
    assert is_private(host) is is_so


@pytest.mark.parametrize("path", SHOW)
def test_a_name_that_was_bound_to_this_address_shows_nothing(service: Service, path: str) -> None:
    assert status(service, "GET", path, {"Host": f"evil.example:{service.port}"}) == 421
    assert status(service, "GET", path, {"Host": "127.0.0.1.evil.example"}) == 421


@pytest.mark.parametrize("path", CHANGE)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example", "Content-Type": "text/plain"},
        {"Origin": "null", "Content-Type": "text/plain"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://localhost"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Origin": "chrome-extension://abcdefgh"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:{port}@evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "empty"},
    ],
)
def test_a_page_of_another_origin_has_nothing_done(service: Service, path: str, headers: dict[str, str]) -> None:
    given = {name: value.format(port=service.port) for name, value in headers.items()}
    assert status(service, "POST", path, given, SUBMISSION) == 403


@pytest.mark.parametrize("path", SHOW)
def test_a_page_of_another_origin_is_shown_nothing(service: Service, path: str) -> None:
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ):
        assert status(service, "GET", path, headers) == 403
    assert status(service, "OPTIONS", path, {"Origin": "http://evil.example"}) == 403


def test_our_own_page_a_link_and_other_clients_are_served(service: Service) -> None:
    own = f"http://127.0.0.1:{service.port}"
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert status(service, "POST", "/v1/grade", {"Origin": own, "Sec-Fetch-Site": "same-origin"}, SUBMISSION) == 200
    assert status(service, "POST", "/v1/grade", {"Origin": own}, SUBMISSION) == 200
    assert status(service, "GET", "/v1/recent", {"Sec-Fetch-Site": "same-origin"}) == 200
    assert status(service, "GET", "/v1/recent", {"Sec-Fetch-Site": "none"}) == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert status(service, "GET", "/", link) == 200
    assert status(service, "POST", "/v1/grade", form, SUBMISSION) == 200, "as curl -d"
    for host in ("localhost:8080", "api:8080", "10.0.0.7", "proctor.default.svc.cluster.local", ""):
        assert status(service, "POST", "/v1/grade", {"Host": host}, SUBMISSION) == 200


def test_answers_say_that_no_other_origin_may_embed_them(service: Service) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", "/v1/recent")
    answer = connection.getresponse()
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    connection.close()


def test_names_can_be_given_and_with_keys_every_name_is_served() -> None:
    proxied = {"Host": "127.0.0.1", "Origin": "https://grade.example.org"}
    with running_service(hosts="grade.example.org,*.pods.example.org", slots=1) as service:
        assert status(service, "POST", "/v1/grade", {"Host": "grade.example.org:80"}, SUBMISSION) == 200
        assert status(service, "POST", "/v1/grade", proxied, SUBMISSION) == 200
        assert status(service, "POST", "/v1/grade", {"Host": "a.b.pods.example.org"}, SUBMISSION) == 200
        assert status(service, "GET", "/healthz", {"Host": "pods.example.org"}) == 421
        assert status(service, "GET", "/healthz", {"Host": "notgrade.example.org"}) == 421
    with running_service(api_keys="secret", slots=1) as service:
        key = {"Authorization": "Bearer secret"}
        assert status(service, "POST", "/v1/grade", {"Host": "grade.example.org", **key}, SUBMISSION) == 200
        assert status(service, "POST", "/v1/grade", {"Host": "grade.example.org"}, SUBMISSION) == 401
        assert status(service, "POST", "/v1/grade", {"Origin": "http://evil.example", **key}, SUBMISSION) == 403


# --- a real browser

PAGE = """<!doctype html><title>begun</title><body><script>
const at = "http://NAME:PORT", body = BODY, seen = [];
const note = (what) => (good) => seen.push(what + "=" + good);
const later = (ms) => new Promise((done) => setTimeout(done, ms));
(async () => {
  const blind = {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body};
  await fetch(at + "/v1/grade", blind).then(note("blind"), () => 0);
  navigator.sendBeacon(at + "/v1/submissions", body);
  await fetch(at + "/v1/recent").then((r) => r.text()).then(note("read"), () => 0);
  const source = new EventSource(at + "/v1/events");
  for (const name of ["history", "now"]) source.addEventListener(name, () => seen.push("event"));
  const script = document.createElement("script"); script.src = at + "/v1/recent";
  script.onload = () => seen.push("script"); document.head.append(script);
  const form = document.createElement("form");
  form.method = "post"; form.enctype = "text/plain"; form.action = at + "/v1/grade"; form.target = "frame";
  form.innerHTML = "<input name='" + body.slice(0, -1) + ', "labels": {"a": "' + "' value='\\"}}'>";
  const frame = document.createElement("iframe"); frame.name = "frame";
  document.body.append(frame, form); form.submit();
  await later(2000); source.close();
  document.title = "seen:" + seen.filter((each) => !each.startsWith("blind")).join();
})();
</script>"""


@contextmanager
def site(page: str) -> Iterator[int]:
    """A site of somebody else's; its port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("name", ["127.0.0.1", pytest.param("localhost", marks=pytest.mark.full), "rebound.example"])
def test_a_strangers_page_in_a_real_browser_does_and_reads_nothing(name: str, tmp_path: Path) -> None:
    """`rebound.example`: another name for the service's address, as a stranger's name server can give one."""
    with running_service(slots=1) as service:
        page = PAGE.replace("NAME", name).replace("PORT", str(service.port)).replace("BODY", json.dumps(SUBMISSION))
        with (
            site(page) as port,
            browser(tmp_path, "--host-resolver-rules=MAP *.example 127.0.0.1") as opened,
        ):
            tab = opened.page()
            tab.open(f"http://stranger.example:{port}/")
            assert tab.until("document.title.startsWith('seen:') && document.title") == "seen:"
        assert service.client.get("/v1/recent")[1]["submissions"] == []
        assert service.client.get("/v1/submissions/by-a-page")[0] == 404
