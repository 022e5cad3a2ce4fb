"""The candidate's replies: what the tester makes of them, and which end the run."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import proxy_classes
import steady_reads
from codec import NotPlainError, from_text
from error_codec import error_text, make_error, read_error
from handle_state import RETURNED
from steady_reads import SteadyReads
from tester_codec import TesterDecoder

if TYPE_CHECKING:
    from connection import Connection

RECEIVED_BYTES = 512 << 20


class CandidateReplies:
    """The replies to one connection's requests, and what was received with them.

    `received_value`: a value of the candidate's has arrived. `raised`: its last exception, `raised_text` as text.
    `streams`: the tester's own stdout and stderr.
    """

    def __init__(self, connection: Connection) -> None:
        self.received_value = False
        self.raised: BaseException | None = None
        self.raised_text = ""
        self.reads = SteadyReads()
        self.streams = sys.stdout, sys.stderr
        self._connection = connection

    def _receive(self) -> tuple[str, str]:
        try:
            frame = self._connection.channel.receive()
        except (EOFError, OSError):
            self._connection.end("gone", "the candidate ended or closed its pipe")
        except (NotPlainError, MemoryError) as error:
            self._connection.end("not_plain", str(error) or "too big")
        if self._connection.channel.received > RECEIVED_BYTES:
            self._connection.end("not_plain", "too much data in total")
        self.received_value = True
        return frame

    def answer(
        self,
        kept: list[Any],
        read: Any = None,
        end: type[Exception] | None = None,
        asked: tuple[str, str] = ("look", ""),
    ) -> Any:
        """Receive the reply to a request, and serve the candidate's calls until it comes.

        Args:
            kept: the mutable arguments of the request.
            read: reads the reply's message with a decoder, if it is not one value.
            end: exception that may end an iteration.
            asked: header line and body of the request.

        Returns:
            The reply's value.

        Raises:
            Exception: the candidate's exception.
        """
        while True:
            head, body = self._receive()
            if head.startswith("back "):
                self._connection.send(*self._connection.callbacks.reply(head, body))
                continue
            try:
                if head == "ok":
                    if not self._is_steady(*asked, body):
                        self._connection.end("not_plain", f"another answer to the same request: {asked[0]}")
                    decoder = TesterDecoder(self._connection, kept)
                    return decoder.message(body, functools.partial(read, decoder) if read else decoder.value)
                if head == "raise":
                    error = self._error(body, kept, end)
                    break
                if head == "printed":
                    self._print(body)
                    continue
                if head == "load":
                    described = TesterDecoder(self._connection, []).message(body, read_error)
                    self._connection.end("load_failed", error_text(described))
                self._connection.end("not_plain", f"the value cannot be sent: {self._reason(head, body)}")
            except NotPlainError as problem:
                self._connection.end("not_plain", str(problem))
        raise error

    def _is_steady(self, head: str, body: str, reply: str) -> bool:
        """Return False if a returned object has answered the same read differently, and nothing happened since."""
        word, _, rest = head.partition(" ")
        if word in steady_reads.NEUTRAL:
            return True
        if word not in steady_reads.READS:
            self.reads.forget()
            return True
        state = self._connection.handles[int(rest.partition(" ")[0])].proctor_handle
        if state.sort != "iterator" and (state.sort != "instance" or state.rank != RETURNED):
            self.reads.forget()  # objects of the test may belong to the returned object
            return True
        return self.reads.agree(word, rest, body, reply)

    def _print(self, body: str) -> None:
        """Write the candidate's output to the streams that the test has set."""
        texts = from_text(body)
        if type(texts) is not list or len(texts) != 2 or not all(type(text) is str for text in texts):
            raise NotPlainError("malformed message")
        for text, now, then in zip(texts, (sys.stdout, sys.stderr), self.streams, strict=True):
            if text and now is not then:
                now.write(text)

    def _reason(self, head: str, body: str) -> str:
        reason = from_text(body)[0] if head == "no" else None
        return reason if type(reason) is str else "the frame is not a reply"

    def _error(self, body: str, kept: list[Any], end: type[Exception] | None) -> BaseException:
        """Return the exception to raise in the test for one of the candidate's."""
        described = TesterDecoder(self._connection, kept).message(body, read_error)
        if "Exception" not in described.names:
            self._connection.end("raised", error_text(described))
        if end is not None and described.names[0] == end.__name__:
            return end(*described.arguments)  # of a generator: what it returned
        error = make_error(described, self._connection.classes)
        if isinstance(error, proxy_classes.CandidateErrorMixin) and described.number is not None:
            error.proctor_text = described.text
            error.proctor_handle = self._connection.handle(described.number, "instance", described.names[0])
        self.raised = error
        self.raised_text = error_text(described)
        return error
