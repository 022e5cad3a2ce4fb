"""A real headless browser, to render a file or to use a page as a person does.

`opened` renders static pages. `Browser` speaks Chrome's DevTools protocol over a pair of pipes, so it needs no library
and no port: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.markers import needs

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ALWAYS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-dev-shm-usage "
    "--disable-component-update --disable-sync --enable-logging=stderr --hide-scrollbars"
).split()
VOID = {"br", "hr", "img", "input", "link", "meta", "wbr", "circle", "line", "path", "rect"}
PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.05
CHANGED = "net::ERR_NETWORK_CHANGED"
LOADS = 10
HIGH_DESCRIPTOR = 64  # so that 3 and 4, which the browser wants, are nobody's
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}
SHIFT, CTRL = 8, 2


class Elements(HTMLParser):
    """Parses a page into its elements and checks that every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def opened(folder: Path, text: str, *flags: str) -> tuple[str, list[str]]:
    """Return the page as the browser renders it, and its complaints."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    command = [need_chromium(), *ALWAYS, *flags, "--dump-dom", f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@needs("browser")
def need_chromium() -> str:
    """Return the browser's path, or skip if there is none."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    return CHROMIUM


class Browser:
    """A browser under remote control."""

    def __init__(self, process: subprocess.Popen[bytes], said: int, told: int) -> None:
        self._process = process
        self._said = said
        self._told = told
        self._rest = b""
        self._numbers = count(1)
        self._answers: dict[int, dict[str, Any]] = {}
        self._pages: dict[str, Page] = {}

    def page(self, width: int = 1280, height: int = 900, scheme: str = "light") -> Page:
        """Open a page in a browser context of its own, without shared storage."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.call("Emulation.setFocusEmulationEnabled", enabled=True)
        return page

    def call(self, method: str, session: str | None = None, /, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._told, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_SECONDS
        while number not in self._answers:
            self.listen(end - time.monotonic())
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, answer)
        result: dict[str, Any] = answer["result"]
        return result

    def listen(self, seconds: float) -> None:
        """Handle the next message within this time."""
        assert seconds > 0, "the browser does not answer"
        if not select.select([self._said], [], [], seconds)[0]:
            return
        found = os.read(self._said, 1 << 16)
        assert found, f"the browser ended: {self._process.poll()}"
        *messages, self._rest = (self._rest + found).split(b"\0")
        for message in messages:
            self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
        elif message.get("sessionId") in self._pages:
            self._pages[message["sessionId"]].hear(message["method"], message["params"])


class Page:
    """A page. `complaints`: errors in its console; `requested`: every address that it requested."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.complaints: list[str] = []
        self.requested: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol."""
        return self._browser.call(method, self._session, **parameters)

    def hear(self, method: str, said: dict[str, Any]) -> None:
        """Handle an event of the protocol."""
        if method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([each.get("value", each.get("description")) for each in said["args"]]))
        elif method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{said['entry']['source']}: {said['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requested.append(said["request"]["url"])

    def open(self, url: str) -> None:
        """Load an address and wait until it is drawn.

        The browser breaks off its requests when the machine gets or loses a network interface, as other tests make and
        remove: then it loads once more.

        Raises:
            AssertionError: The network changed during each load.
        """
        for _ in range(LOADS):
            before = len(self.complaints)
            trouble = [self.call("Page.navigate", url=url).get("errorText", "")]
            self.until("document.readyState === 'complete'")
            trouble += self.complaints[before:]
            if not any(CHANGED in each for each in trouble):
                return
            del self.complaints[before:]
            self.call("Page.navigate", url="about:blank")  # the same address again would only move to its fragment
        raise AssertionError(f"the network changed {LOADS} times while {url} was loaded")

    def reload(self) -> None:
        """Reload the page and wait until it is loaded."""
        self.evaluate("window.isOld = true")
        self.call("Page.reload")
        self.until("!window.isOld && document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        how = {"returnByValue": True, "awaitPromise": True, "allowUnsafeEvalBlockedByCSP": False}
        answer = self.call("Runtime.evaluate", expression=expression, **how)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def until(self, condition: str, seconds: float = 30.0) -> Any:
        """Wait until the condition is true and return its value. Errors count as false."""
        end = time.monotonic() + seconds
        tried = f"(() => {{ try {{ return {condition} }} catch {{ return null }} }})()"
        while (found := self.evaluate(tried)) in (None, False, "", 0):  # an element comes as {}
            assert time.monotonic() < end, f"never {condition}\n{self.text()[:4000]}\n{self.complaints}"
            with suppress(AssertionError):
                self._browser.listen(LOOK_SECONDS)
            time.sleep(LOOK_SECONDS)
        return found

    def text(self, selector: str = "body") -> str:
        """Return the visible text."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def click(self, selector: str, text: str = "") -> None:
        """Click in the middle of the first element that contains this text."""
        where = json.dumps([selector, text])
        found = self.until(
            f"(([selector, text]) => {{ const found = [...document.querySelectorAll(selector)]"
            ".find((each) => each.textContent.includes(text) && each.getClientRects().length);"
            "if (!found) return null; found.scrollIntoView({block: 'center'});"
            "const at = found.getBoundingClientRect();"
            f"return [at.x + at.width / 2, at.y + at.height / 2] }})({where})"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=found[0], y=found[1], button="left", clickCount=1)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press and release a key."""
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        named = {"key": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper())), "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def write(self, text: str) -> None:
        """Type into the focused element in place of its selection."""
        self.call("Input.insertText", text=text)

    def fill(self, selector: str, text: str) -> None:
        """Type into a field in place of its content."""
        self.until(f"document.querySelector({json.dumps(selector)})")
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        self.evaluate("document.activeElement.select()")
        self.write(text)

    def focused(self) -> str:
        """Return the focused element's name and text."""
        return str(
            self.evaluate(
                "((at) => `${at.localName} ${at.getAttribute('aria-label') ?? at.innerText ?? ''}`.trim())"
                "(document.activeElement)"
            )
        )

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Write a screenshot as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser(folder: Path, *flags: str) -> Iterator[Browser]:
    """Yield a browser, ended afterwards. `folder` is for its data."""
    command = [need_chromium(), *ALWAYS, *flags, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    (their_in, our_out), (our_in, their_out) = (_high(os.pipe()), _high(os.pipe()))
    moved = f'exec "$0" "$@" 3<&{their_in} 4>&{their_out}'
    process = subprocess.Popen(
        ["/bin/bash", "-c", moved, *command], pass_fds=(their_in, their_out), stderr=subprocess.DEVNULL
    )
    for theirs in (their_in, their_out):
        os.close(theirs)
    try:
        yield Browser(process, our_in, our_out)
    finally:
        for ours in (our_out, our_in):  # at which it ends
            os.close(ours)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _high(pair: tuple[int, int]) -> tuple[int, int]:
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR) for each in pair]
    for each in pair:
        os.close(each)
    return moved[0], moved[1]
