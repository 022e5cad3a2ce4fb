"""Clients that are slow, greedy, rude or gone: none takes the service's memory or time from an ordinary one beside it.

In every scene an ordinary client grades all the while and must be answered right; the resident memory of the service's
process is watched; nobody is ever answered with a 5xx that speaks of a defect.
"""

from __future__ import annotations

import gzip
import json
import resource
import selectors
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psutil
import pytest
import zstandard

from tests.conftest import Service, running_service
from tests.markers import crosswise

MIB = 1 << 20
GUARD_SECONDS = 60.0
PATIENCE_SECONDS = 3.0
IDLE_SECONDS = 4
BODY_BYTES = 16 * MIB
ARRIVING_BYTES = 48 * MIB
SLACK_BYTES = 48 * MIB  # what the neighbour's grading and the allocator may take
CROWD = 500
IDLE_BYTES = 40 << 10  # of memory for each idle connection, at most

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
PLAIN: dict[str, Any] = {
    "code": "print(int(input()) + 1)",
    "tests": [{"type": "stdin", "input": "1\n", "output": "2\n"}],
}
NEIGHBOUR = PLAIN | {"labels": {"client": "neighbour"}}
SLEEPER: dict[str, Any] = {"code": "import time; time.sleep(1); print(1)", "tests": [{"type": "stdin", "output": "1"}]}


@pytest.fixture(scope="module")
def hardened() -> Iterator[Service]:
    """A service that is as strict as its settings let it be, so that the tests need not wait for long."""
    with running_service(
        patience_seconds=PATIENCE_SECONDS,
        keepalive_seconds=IDLE_SECONDS,
        max_body_bytes=BODY_BYTES,
        queue_bytes=ARRIVING_BYTES,
    ) as service:
        service.grade(**PLAIN)
        yield service


# --- what is watched


class Scene:
    """What an ordinary client saw, and how much memory the service took, while something went on."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.seconds: list[float] = []
        self.resident = 0

    def __str__(self) -> str:
        worst, middle = max(self.seconds), sorted(self.seconds)[len(self.seconds) // 2]
        return (
            f"{len(self.answers)} beside, median {middle * 1000:.0f} ms, worst {worst * 1000:.0f} ms; "
            f"resident +{self.resident / MIB:.0f} MiB"
        )


@contextmanager
def beside(service: Service, most: int = SLACK_BYTES) -> Iterator[Scene]:
    """An ordinary client, and a bound on the growth of the service's memory."""
    scene, over = Scene(), threading.Event()
    process = psutil.Process(service.process.pid)
    before = process.memory_info().rss

    def grade() -> None:
        while True:
            began = time.monotonic()
            try:
                scene.answers.append(service.client.post("/v1/grade", NEIGHBOUR))
            except OSError as error:
                scene.answers.append((0, repr(error)))
            scene.seconds.append(time.monotonic() - began)
            if over.wait(0.05):
                return

    def watch() -> None:
        while not over.wait(0.02):
            scene.resident = max(scene.resident, process.memory_info().rss - before)

    threads = [threading.Thread(target=grade), threading.Thread(target=watch)]
    for thread in threads:
        thread.start()
    try:
        yield scene
    finally:
        over.set()
        for thread in threads:
            thread.join()
    print(scene)
    wrong = [(status, answer) for status, answer in scene.answers if status != 200 or answer["verdict"] != "AC"]
    assert scene.answers
    assert wrong == []
    assert scene.resident <= most


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + GUARD_SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def pending(service: Service) -> int:
    return int(service.client.get("/v1/status")[1]["pending"]["submissions"])


def peers(service: Service) -> set[tuple[str, int]]:
    """The addresses of those whose connections the service's process has."""
    return {
        (each.raddr.ip, each.raddr.port)
        for each in psutil.Process(service.process.pid).net_connections("tcp")
        if each.raddr
    }


def connections(service: Service) -> int:
    return len(peers(service))


# --- what speaks


def connect(service: Service, *, source: str = "127.0.0.1", receive_bytes: int = 0) -> socket.socket:
    connection = socket.socket()
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.settimeout(GUARD_SECONDS)
    connection.bind((source, 0))
    connection.connect(("127.0.0.1", service.port))
    return connection


@contextmanager
def crowd(service: Service, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(connect(service)) for _ in range(count)]


def post(body: object, path: str = "/v1/grade", **headers: str) -> bytes:
    """A request as it goes over the wire."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Host": "x", "Content-Length": str(len(data))} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + data


def everything(connection: socket.socket) -> bytes:
    """What comes until the service hangs up, or resets."""
    found = bytearray()
    with suppress(ConnectionResetError):
        while chunk := connection.recv(65536):
            found += chunk
    return bytes(found)


def said(connection: socket.socket, request: bytes) -> bytes:
    """What a service says that may hang up before it has heard everything."""
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(request)
    return everything(connection)


def statuses(answer: bytes) -> list[int]:
    return [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:] if part[:3].isdigit()]


def drip(
    sockets: list[socket.socket], next_bytes: Callable[[int], bytes], pause_seconds: float = 0.2
) -> dict[int, bytes]:
    """Send a little to each now and then until the service has hung up on all; what it said to each."""
    heard: dict[int, bytes] = {}
    end, turn = time.monotonic() + GUARD_SECONDS, 0
    with selectors.DefaultSelector() as selector:
        for index, connection in enumerate(sockets):
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ, index)
        while selector.get_map():
            assert time.monotonic() < end, f"{len(selector.get_map())} of {len(sockets)} connections are still open"
            for key in list(selector.get_map().values()):
                with suppress(OSError):
                    key.fileobj.send(next_bytes(turn))  # type: ignore[union-attr]
            turn += 1
            again = time.monotonic() + pause_seconds
            while selector.get_map() and (left := again - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    try:
                        data = key.fileobj.recv(4096)  # type: ignore[union-attr]
                    except OSError:
                        data = b""
                    heard[key.data] = heard.get(key.data, b"") + data
                    if not data:
                        selector.unregister(key.fileobj)
    return heard


# --- slow ones


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"a"),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"a: b\r\n"),
        (b"GET /", b"a"),
        (b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b" " * 10_000, b" "),
        (b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    ],
    ids=["a header", "headers", "a path", "a body", "chunks"],
)
def test_a_request_that_comes_in_drops_is_ended_with_408(hardened: Service, begin: bytes, more: bytes) -> None:
    with beside(hardened), crowd(hardened, CROWD) as sockets:
        heard = drip(sockets, lambda turn: begin if turn == 0 else more)
        assert [statuses(heard[index]) for index in range(CROWD)] == [[408]] * CROWD
        assert json.loads(heard[0].partition(b"\r\n\r\n")[2])["error"]["type"] == "too_slow"


def test_connections_on_which_nothing_is_asked_are_closed_as_idle(hardened: Service) -> None:
    """Also where line ends come now and then, which belong to no request."""
    with beside(hardened), crowd(hardened, CROWD) as sockets:
        heard = drip(sockets, lambda _: b"\r\n")
        assert set(heard.values()) == {b""}


def test_a_request_is_not_slow_because_grading_it_takes_long(hardened: Service) -> None:
    sleeper = SLEEPER | {"code": f"import time; time.sleep({PATIENCE_SECONDS + 3}); print(1)"}
    assert hardened.grade(**sleeper)["verdict"] == "AC"


def test_bodies_that_stop_in_the_middle_have_a_bound_together(hardened: Service) -> None:
    """Forty clients of whom each may send 16 MiB, and sends 15."""
    part = b" " * (15 * MIB)
    head = f"POST /v1/grade HTTP/1.1\r\nHost: x\r\nContent-Length: {BODY_BYTES}\r\n\r\n".encode()
    outcomes: list[bytes] = []

    def send(connection: socket.socket) -> None:
        outcomes.append(said(connection, head + part))

    with crowd(hardened, 40) as sockets:
        before = psutil.Process(hardened.process.pid).memory_info().rss
        threads = [threading.Thread(target=send, args=(each,)) for each in sockets]
        for thread in threads:
            thread.start()
        most = 0
        while any(thread.is_alive() for thread in threads):
            most = max(most, psutil.Process(hardened.process.pid).memory_info().rss - before)
            time.sleep(0.02)
    found = [statuses(each) for each in outcomes]
    print(f"resident +{most / MIB:.0f} MiB;", {str(each): found.count(each) for each in found})
    assert len(found) == 40
    # []: reset before it was read
    assert all(each in ([408], [429], []) for each in found), found
    assert [429] in found
    assert most <= ARRIVING_BYTES + BODY_BYTES + SLACK_BYTES
    until(lambda: hardened.client.post("/v1/grade", PLAIN)[0] == 200, "the bodies' room is not given back")


# --- many


@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.full)])
def test_thousands_of_idle_connections_cost_little_and_disturb_nobody(count: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count + 1000:
        pytest.skip(f"the hard limit of open files is {hard}, {count + 1000} are needed")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with running_service() as service, beside(service, count * IDLE_BYTES), ExitStack() as stack:
            sockets = [
                stack.enter_context(connect(service, source=f"127.0.0.{2 + index % 4}")) for index in range(count)
            ]
            until(lambda: connections(service) >= count, "not all connections were accepted")
            for each in sockets[::100]:
                each.sendall(HEALTH)
            assert [each.recv(4096)[:15] for each in sockets[::100]] == [b"HTTP/1.1 200 OK"] * (count // 100)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_beyond_the_most_connections_those_idle_longest_make_room() -> None:
    with running_service(connections=64) as service:
        with beside(service), ExitStack() as stack:
            sockets = []
            for _ in range(300):
                sockets.append(stack.enter_context(connect(service)))
                time.sleep(0.01)  # or the neighbour's would be among the oldest before it has said anything
            until(lambda: connections(service) <= 66, "more connections than there may be")
            sockets[-1].sendall(HEALTH)
            assert sockets[-1].recv(4096).startswith(b"HTTP/1.1 200")
            assert sockets[0].recv(4096) == b""
        until(lambda: connections(service) <= 2, "connections are left")


def test_where_none_is_idle_one_connection_more_is_refused_with_503() -> None:
    with running_service(connections=16) as service, crowd(service, 16) as sockets:
        for each in sockets:
            each.sendall(b"GET /healthz HTTP/1.1\r\n")  # has begun, so it is not idle
        time.sleep(0.5)
        with connect(service) as late:
            answer = everything(late)
        assert statuses(answer) == [503]
        assert b"retry-after: 2" in answer
        sockets[0].sendall(b"Host: x\r\n\r\n")
        assert sockets[0].recv(4096).startswith(b"HTTP/1.1 200")


# --- bombs


def gzip_bomb(mebibytes: int) -> bytes:
    """A single member, made of a block that is repeated; its checksum would be wrong, were it ever reached."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + block * mebibytes + packer.flush() + struct.pack("<II", 0, 0)


def zstd_frame(mebibytes: int) -> bytes:
    """A single frame of blocks that say: this byte, 128 KiB times."""
    block = struct.pack("<I", (128 << 10) << 3 | 1 << 1)[:3] + b" "
    return b"\x28\xb5\x2f\xfd\x00\x58" + block * (8 * mebibytes) + b"\x01\x00\x00"


HUGE_WINDOW = b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"  # wants 2 GiB to unpack nothing

BOMBS: dict[str, tuple[str, Callable[[], bytes], set[int]]] = {
    "gzip, 10 GB": ("gzip", lambda: gzip_bomb(10_000), {413}),
    "gzip, ten members of 1 GB": ("gzip", lambda: gzip_bomb(1000) * 10, {413}),
    "gzip in gzip": ("gzip", lambda: gzip.compress(gzip_bomb(10_000)), {422}),
    "gzip, said twice": ("gzip, gzip", lambda: gzip.compress(gzip_bomb(10_000)), {422}),
    "gzip, half a million empty members": ("gzip", lambda: gzip.compress(b"", mtime=0) * 500_000, {422}),
    "gzip, cut": ("gzip", lambda: gzip.compress(json.dumps(PLAIN).encode())[:-9], {422}),
    "zstd, 10 GB": ("zstd", lambda: zstd_frame(10_000), {413}),
    "zstd, 200 GB in frames": ("zstd", lambda: zstandard.ZstdCompressor().compress(bytes(MIB)) * 200_000, {413}),
    "zstd, a million empty frames": ("zstd", lambda: zstandard.ZstdCompressor().compress(b"") * 1_000_000, {422}),
    "zstd, a huge window": ("zstd", lambda: HUGE_WINDOW, {422}),
    "zstd in gzip": ("gzip", lambda: gzip.compress(zstd_frame(10_000)), {422}),
    "not packed at all": ("gzip", lambda: json.dumps(PLAIN).encode(), {422}),
}


@pytest.mark.parametrize(("name", "chunked"), crosswise(BOMBS, (False, True)))
def test_a_bomb_is_refused_and_never_unpacked(hardened: Service, name: str, chunked: bool) -> None:
    encoding, make, wanted = BOMBS[name]
    bomb = make()
    assert len(bomb) < BODY_BYTES
    request = post(bomb, Content_Encoding=encoding, Connection="close")
    if chunked:
        head = request[: -len(bomb)].replace(f"Content-Length: {len(bomb)}".encode(), b"Transfer-Encoding: chunked")
        request = head + b"".join(chunks(bomb, 100_000))
    with beside(hardened, 3 * BODY_BYTES + SLACK_BYTES):
        for _ in range(3):
            with connect(hardened) as connection:
                assert set(statuses(said(connection, request))) == wanted


def chunks(data: bytes, size: int) -> Iterable[bytes]:
    for start in range(0, len(data), size):
        part = data[start : start + size]
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_what_was_compressed_in_parts_is_read_whole(hardened: Service, encoding: str) -> None:
    whole = json.dumps(PLAIN).encode()
    pack = gzip.compress if encoding == "gzip" else zstandard.ZstdCompressor().compress
    body = b"".join(pack(whole[start : start + 20]) for start in range(0, len(whole), 20))
    status, answer = hardened.client.post("/v1/grade", body, **{"Content-Encoding": encoding})
    assert (status, answer["verdict"]) == (200, "AC")


# --- requests that do not say what they are


def test_a_body_shorter_than_it_says_is_ended_with_408(hardened: Service) -> None:
    request = post(PLAIN).replace(b"Content-Length: ", b"Content-Length: 9")
    with beside(hardened), connect(hardened) as connection:
        assert statuses(said(connection, request)) == [408]


def test_what_follows_a_body_is_another_request_and_a_wrong_one_is_400(hardened: Service) -> None:
    with beside(hardened), connect(hardened) as connection:
        found = statuses(said(connection, post(b'{"code": 1}') + b'"x": 1}\r\n\r\n'))
        assert found in ([422, 400], [400])


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Length: -1",
        "Content-Length: 1e3",
        "Content-Length: 99999999999999999999999",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: nonsense",
    ],
)
def test_lengths_that_make_no_sense_are_refused(hardened: Service, headers: str) -> None:
    request = f"POST /v1/grade HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n12345".encode()
    with connect(hardened) as connection:
        found = statuses(said(connection, request))
    assert found
    assert all(400 <= status < 500 for status in found)
    assert hardened.grade(**PLAIN)["verdict"] == "AC"


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(hardened: Service) -> None:
    head = f"POST /v1/grade HTTP/1.1\r\nHost: x\r\nContent-Length: {10**12}\r\nExpect: 100-continue\r\n\r\n"
    with beside(hardened), connect(hardened) as connection:
        assert statuses(said(connection, head.encode()))[0] == 413


def test_an_endless_body_is_refused_and_not_kept(hardened: Service) -> None:
    head = b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with beside(hardened, 2 * BODY_BYTES + SLACK_BYTES), connect(hardened) as connection:
        assert ended_while_sending(connection, head, b"100000\r\n" + bytes(MIB) + b"\r\n")


# --- large heads


def ended_while_sending(connection: socket.socket, head: bytes, more: bytes) -> bool:
    """Whether the service hangs up on one who sends for ever; what it says is read."""
    end = time.monotonic() + GUARD_SECONDS
    try:
        connection.sendall(head)
        while time.monotonic() < end:
            connection.sendall(more)
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * MIB + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-Some: thing\r\n" * (MIB // 15) + b"\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X" * MIB + b": a\r\n\r\n",
        b"GET /healthz?" + b"a" * MIB + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"A" * MIB + b" / HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["a header", "headers", "a name", "a path", "a method"],
)
def test_a_head_of_a_megabyte_is_refused(hardened: Service, request_bytes: bytes) -> None:
    with beside(hardened):
        for _ in range(20):
            with connect(hardened) as connection:
                found = statuses(said(connection, request_bytes))
                assert found in ([431], [400], [])  # []: reset, since more came than was read


@pytest.mark.parametrize(
    ("head", "more"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", b"a" * 65536),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"X-Some: thing\r\n" * 4000),
        (b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n" * 10_000),
        (b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a" * 65536),
    ],
    ids=["a header", "headers", "trailers", "an extension of a chunk"],
)
def test_an_endless_head_is_not_kept(hardened: Service, head: bytes, more: bytes) -> None:
    with beside(hardened), connect(hardened) as connection:
        assert ended_while_sending(connection, head, more)


# --- pipelines


def test_pipelined_requests_are_answered_in_order(hardened: Service) -> None:
    requests = [post(PLAIN | {"id": f"pipelined-{number}"}) for number in range(30)]
    last = HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with beside(hardened), connect(hardened) as connection:
        answer = said(connection, b"".join([*requests, HEALTH * 200, last]))
    assert statuses(answer) == [200] * 231
    places = [answer.index(f'"pipelined-{number}"'.encode()) for number in range(30)]
    assert places == sorted(places)


def test_a_large_body_behind_another_request_is_read_when_it_is_its_turn(hardened: Service) -> None:
    large = PLAIN | {"id": "large", "code": PLAIN["code"] + "  # " + "x" * (4 * MIB)}
    with beside(hardened), connect(hardened) as connection:
        answer = said(connection, post(SLEEPER) + post(large, Connection="close"))
    assert statuses(answer) == [200, 200]
    assert answer.count(b'"verdict":"AC","reward"') == 2


def test_what_is_pipelined_without_end_behind_a_slow_one_is_not_kept(hardened: Service) -> None:
    slow = SLEEPER | {"code": "import time; time.sleep(4); print(1)"}
    more = post(b" " * 1000, "/v1/grade") * 1000
    with beside(hardened), connect(hardened) as connection:
        connection.sendall(post(slow))
        connection.settimeout(1.0)
        sent = 0
        with suppress(TimeoutError):  # the kernel takes no more: nobody reads
            while sent < 256 * MIB:
                sent += connection.send(more)
    print(f"sent {sent / MIB:.0f} MiB")
    assert sent < 64 * MIB
    until(lambda: pending(hardened) == 0, "the slow one is still pending")


# --- manners of other times


def test_http_1_0_is_answered_and_hung_up(hardened: Service) -> None:
    request = post(PLAIN).replace(b"HTTP/1.1", b"HTTP/1.0").replace(b"Host: x\r\n", b"")
    with connect(hardened) as connection:
        answer = said(connection, request)
    assert statuses(answer) == [200]
    assert b'"verdict":"AC"' in answer
    assert b"connection: close" in answer.lower()


def test_a_streamed_answer_in_http_1_0_has_no_chunks_and_ends_with_the_connection(hardened: Service) -> None:
    request = post({"submissions": [PLAIN, PLAIN | {"code": "print(3)"}]}, "/v1/grade/batch")
    with connect(hardened) as connection:
        head, _, lines = said(connection, request.replace(b"HTTP/1.1", b"HTTP/1.0")).partition(b"\r\n\r\n")
    assert b"chunked" not in head.lower()
    assert sorted(json.loads(line)["verdict"] for line in lines.splitlines() if line) == ["AC", "WA"]


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PATCH", "CONNECT", "PROPFIND", "NONSENSE"])
@pytest.mark.parametrize("path", ["/v1/grade", "/healthz", "/metrics", "*", "/v1/submissions/x", "x:1"])
def test_other_methods_are_refused(hardened: Service, method: str, path: str) -> None:
    with connect(hardened) as connection:
        found = statuses(said(connection, f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()))
    allowed = (method, path) in {("HEAD", "/healthz")}
    assert found
    assert all(status == 200 if allowed else 400 <= status < 500 for status in found)


UPGRADES = ["websocket", "h2c", "TLS/1.0", "nonsense"]


def upgrade_to(name: str) -> dict[str, str]:
    return {"Connection": "Upgrade", "Upgrade": name, "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}


@pytest.mark.parametrize("upgrade", UPGRADES)
def test_an_upgrade_is_not_made_and_the_request_is_answered(hardened: Service, upgrade: str) -> None:
    """And then hung up, since the parser takes what follows for another protocol."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in upgrade_to(upgrade).items())
    with beside(hardened), connect(hardened) as connection:
        answer = said(connection, f"GET /healthz HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())
        assert statuses(answer) == [200]
        assert b"connection: close" in answer.lower()


@pytest.mark.parametrize("upgrade", UPGRADES)
def test_an_upgrade_with_a_body_is_refused_and_not_read_as_if_it_had_none(hardened: Service, upgrade: str) -> None:
    with beside(hardened), connect(hardened) as connection:
        answer = said(connection, post(PLAIN, **upgrade_to(upgrade)))
        assert statuses(answer) == [400]
        assert b"no_upgrade" in answer


def test_a_preface_of_http_2_is_refused(hardened: Service) -> None:
    with connect(hardened) as connection:
        assert set(statuses(said(connection, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))) <= {400}


def test_noise_is_refused(hardened: Service) -> None:
    noise = [
        bytes(100),
        b"\xff" * 1000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ]
    with beside(hardened):
        for each in noise:
            with connect(hardened) as connection:
                assert set(statuses(said(connection, each))) <= {400}


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" * 20,
        b"FOO /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/grade HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["TLS", "a method", "a header", "a length", "the size of a chunk"],
)
def test_what_is_no_http_is_told_what_to_check(hardened: Service, request_: bytes) -> None:
    with connect(hardened) as connection:
        head, _, body = said(connection, request_).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    error = json.loads(body)["error"]
    assert (error["type"], error["retry_after_seconds"]) == ("malformed", None)
    assert "check the method" in error["message"]


# --- those who go, and those who do not listen


def test_one_who_closes_its_half_is_taken_for_gone(hardened: Service) -> None:
    """As with most servers: to wait for the answer, a client must not say that it has finished speaking."""
    with beside(hardened), connect(hardened) as connection:
        connection.sendall(post(SLEEPER | {"tests": SLEEPER["tests"] * 100}))
        until(lambda: pending(hardened) > 0, "it is not pending")
        connection.shutdown(socket.SHUT_WR)
        assert everything(connection) == b""
    until(lambda: pending(hardened) == 0, "what it asked for is still pending")


@pytest.mark.parametrize("when", ["at once", "when it is graded", "in the middle of the answer"])
def test_the_work_of_a_batch_whose_client_vanishes_is_cancelled(hardened: Service, when: str) -> None:
    """It would be several minutes of work."""
    until(lambda: pending(hardened) == 0, "something is still pending")
    quick = [PLAIN | {"id": f"vanish-{when}-{number}"} for number in range(5)]
    batch = post({"submissions": quick + [SLEEPER | {"stop_on_failure": False}] * 300}, "/v1/grade/batch")
    connection = connect(hardened)
    connection.sendall(batch)
    if when == "when it is graded":
        until(lambda: pending(hardened) > 0, "it is not pending")
    elif when == "in the middle of the answer":
        heard = b""
        while heard.count(b"\n{") + heard.count(b"}\n") < 2:
            heard += connection.recv(4096)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # by a reset
    connection.close()
    time.sleep(0.3)
    until(lambda: pending(hardened) == 0, "what it asked for is still pending")
    assert hardened.grade(**PLAIN)["verdict"] == "AC"


def large_answers(count: int) -> bytes:
    """A batch whose answers take about a megabyte for each 4 submissions."""
    tests = [{"type": "stdin", "output": "x"}] * 30
    one = {"code": "print('a' * 10000)", "tests": tests, "stop_on_failure": False}
    return post({"submissions": [one] * count}, "/v1/grade/batch", Connection="close")


def test_one_who_does_not_read_its_answer_is_let_go_with_all_that_was_kept_for_it(hardened: Service) -> None:
    with beside(hardened, 64 * MIB + SLACK_BYTES), connect(hardened, receive_bytes=4096) as connection:
        own = connection.getsockname()
        connection.sendall(large_answers(200))
        until(lambda: pending(hardened) > 0, "it is not pending")
        assert own in peers(hardened)
        until(lambda: own not in peers(hardened), "its connection is still open")
        until(lambda: pending(hardened) <= 1, "its work is still pending")
        answer = everything(connection)
        assert not answer.endswith(b"0\r\n\r\n")


def test_one_who_reads_slowly_gets_everything(hardened: Service) -> None:
    heard = bytearray()
    with beside(hardened, 64 * MIB + SLACK_BYTES), connect(hardened, receive_bytes=65536) as connection:
        connection.sendall(large_answers(40))
        while chunk := connection.recv(30_000):
            heard += chunk
            time.sleep(0.01)
    assert heard.endswith(b"0\r\n\r\n")
    assert heard.count(b'"verdict":"WA","reward"') == 40


def test_after_all_that_nothing_is_left(hardened: Service) -> None:
    until(lambda: pending(hardened) == 0, "something is pending")
    until(lambda: connections(hardened) <= 1, "connections are open")
    assert hardened.process.poll() is None
    print(f"resident {psutil.Process(hardened.process.pid).memory_info().rss / MIB:.0f} MiB")
