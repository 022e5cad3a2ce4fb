"""The tester's connection to the candidate: sends requests, reads replies, and ends the run on a violation.

Every way to end a run is here, with the result that says whose failure it was. `bad_test` masks the sample, so a
submission must not be able to cause it: the result is used only where the test's text alone decides, or before any
value of the candidate's has arrived (`CandidateReplies.received_value`).
"""

from __future__ import annotations

import contextlib
import json as json_module
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import handle_operators  # noqa: F401 (adds the operators to the handles)
import proxy_classes
from callbacks import Callbacks
from candidate_replies import CandidateReplies
from channel import Channel
from codec import Json, NotPlainError, sendable, to_text
from decoder import Decoder
from error_codec import describe_error
from explanations import MESSAGE_CHARACTERS, exception_text, raised_by_statement
from handle_state import RETURNED, HandleState
from lent_values import LentValues
from proxy_classes import ProxyClasses
from remote_handle import RemoteHandle
from shared_classes import SharedClasses
from tester_codec import ITERATOR_ITEMS, TesterEncoder, TestValueError
from text_uses import TextUses


class Connection:
    """Sends requests to the candidate and ends the run when a reply is not acceptable."""

    def __init__(self, channel: Channel, report_fd: int, then: Callable[[], object] | None = None) -> None:
        """Connect to the candidate.

        Args:
            channel: the pipes.
            report_fd: file for the report.
            then: runs the next test program after the report of this one; None for the end of the process.
        """
        self.channel = channel
        self.report_fd = report_fd
        self._then = then
        self.classes = SharedClasses({})
        self.calls = 0
        self.replies = CandidateReplies(self)
        self.text = TextUses()
        self.callbacks = Callbacks(self)
        self.lent = LentValues(self)
        self.handles: dict[int, RemoteHandle] = {}
        self.proxies = ProxyClasses(self._attribute_of)
        self.value_classes = self.proxies.numbers
        self.errors: dict[type, int] = {}
        self.data_names: set[str] = set()
        self._lock = threading.RLock()
        self._iterator_items = 0

    # report

    def report(self, result: str, message: str) -> None:
        """Write the report, a line; the last action of this test program.

        Args:
            result: passed, failed, raised, not_plain, gone, load_failed or bad_test.
            message: the reason, for people.
        """
        message = sendable(message[:MESSAGE_CHARACTERS])
        text = json_module.dumps({"result": result, "message": message, "calls": self.calls})
        data = text.encode() + b"\n"
        while data:
            data = data[os.write(self.report_fd, data) :]

    def end(self, result: str, message: str) -> NoReturn:
        """Write the report, run the next test program if there is one, and exit; the test's own handlers do not run.

        Args:
            result: see `report`.
            message: the reason, for people.
        """
        try:
            self.report(result, message)
            if self._then is not None:
                self._then()
        finally:
            os._exit(0)

    # classes

    def derived_from(self, handle: RemoteHandle) -> None:
        """End the run as `bad_test` if the test derives a class from a class of the submission's.

        Args:
            handle: handle of the class.
        """
        state = handle.proctor_handle
        if self.text.is_no_error(state):
            self.end(
                "bad_test", f"the test derives a class from {state.bound}, which exists only in the candidate's box"
            )

    def class_of_errors(self, handle: RemoteHandle) -> Any:
        """Return the proxy class for one of the candidate's exception classes.

        Args:
            handle: handle of the exception class.
        """
        for _, bases in handle.proctor_handle.bases:
            for base in bases:
                self.text.import_library(base.rpartition(":")[0])
        kind = proxy_classes.error_class(self.classes, handle)
        self.errors[kind] = handle.proctor_handle.number
        return kind

    def signature(self, parts: Any) -> Any:
        """Return the result of `inspect.signature` for a candidate's function.

        Args:
            parts: the signature as the candidate describes it.
        """
        try:
            return proxy_classes.signature(parts)
        except NotPlainError as problem:
            self.end("not_plain", str(problem))

    # requests

    def look_up(self, names: list[str], expression: str | None) -> tuple[dict[str, Any], Any]:
        """Request the values of names and the value of the entry expression.

        The first request; it is sent while the submission is still loading. Data is a copy, made when the submission is
        loaded.

        Args:
            names: names that the submission may define.
            expression: the entry expression, or None.

        Returns:
            The values of the names that the submission defines, and the expression's value.
        """
        found: dict[str, Any] = {}

        def read(decoder: Decoder, json: Json) -> Any:
            for name, values_of_name in json[0]:
                if name in names and values_of_name:
                    found[name] = decoder.value(values_of_name[0])
            return decoder.value(json[1])

        with contextlib.suppress(OSError):  # it may have failed to load and ended; its message is still to be read
            self.channel.send("look", to_text([names, expression]))
        value = self.replies.answer([], read)
        self.replies.received_value = False  # handles of its definitions are no values yet
        return found, value

    def global_value(self, name: str) -> Any:
        """Return a copy of the submission's data, as it is now.

        Args:
            name: the global's name.

        Raises:
            NameError: the submission has deleted it.
        """
        found, _ = self.look_up([name], None)
        self.replies.received_value = True
        if name not in found:
            raise NameError(f"name {name!r} is not defined", name=name)
        return found[name]

    def call(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a remote object.

        Args:
            number: number of the object.
            args: positional arguments.
            kwargs: keyword arguments.

        Returns:
            The result.

        Raises:
            Exception: the candidate's exception.
        """
        encoder = TesterEncoder(self)
        try:
            body = encoder.message([encoder.items(args), list(kwargs), encoder.items(list(kwargs.values()))])
        except NotPlainError as error:
            self._cannot_send("an argument cannot be sent", error)
        return self._exchange(f"call {number}", body, encoder.kept)

    def request(self, head: str) -> Any:
        """Send a request without a value.

        Args:
            head: header line of the request.

        Returns:
            The reply's value.
        """
        return self._exchange(head, "", [])

    def request_with(self, head: str, value: Any) -> Any:
        """Send a request with one value.

        Args:
            head: header line of the request.
            value: the value.

        Returns:
            The reply's value.
        """
        encoder = TesterEncoder(self)
        try:
            body = encoder.message(encoder.value(value))
        except NotPlainError as error:
            self._cannot_send("a value cannot be sent", error)
        return self._exchange(head, body, encoder.kept)

    def request_typed(self, kind: type, head: str, *value: Any) -> Any:
        """Send a request that runs the candidate's code and must give a value of one type.

        Args:
            head: header line of the request.
            kind: the type.
            value: the request's value, if it has one.

        Returns:
            The reply's value.
        """
        self.calls += 1
        answer = self.request_with(head, *value) if value else self.request(head)
        if type(answer) is not kind:
            self.end("not_plain", f"{' '.join(head.split()[:-1])} did not return a value of type {kind.__name__}")
        return answer

    def class_of(self, value: Any) -> Any:
        """Return the class of a value, as `type` does; for an object of the candidate's, the handle of its class.

        Args:
            value: any value.
        """
        if type(value) is not RemoteHandle:
            return type(value)
        state = value.proctor_handle
        return self.request(f"class {state.number}") if state.sort == "instance" else RemoteHandle

    def _attribute_of(self, value: Any, name: str) -> Any:
        """Return an attribute of a value that was received whole: a method or a property of its class."""
        found = self.request_with(f"attribute {name}", value)
        self.calls += type(found) is not RemoteHandle
        return found

    def content(self, state: HandleState) -> Any:
        """Return the plain content of a value whose class extends a plain one.

        Args:
            state: state of the value's handle.
        """
        self.calls += 1
        content = self.request(f"content {state.number}")
        if type(content) is not state.base:
            self.end("not_plain", f"a {state.name} did not return the content of its base class")
        return content

    def request_iterator(self, head: str) -> RemoteHandle:
        """Send a request whose reply must be the handle of an iterator.

        Args:
            head: header line of the request.

        Returns:
            The handle.

        Raises:
            TypeError: the object cannot be iterated over.
        """
        value = self.request(head)
        if type(value) is not RemoteHandle or value.proctor_handle.sort != "iterator":
            raise TypeError("the candidate's object cannot be iterated over")
        word, _, number = head.partition(" ")
        if word == "iter" and self.handles[int(number)].proctor_handle.rank == RETURNED:
            self.replies.reads.begin(int(number), value.proctor_handle.number)
        return value

    def next_item(self, head: str, end: type[Exception]) -> Any:
        """Request the next item of a generator; the only request that the end of an iteration may answer.

        Args:
            head: header line of the request.
            end: exception that ends the iteration.

        Returns:
            The item.
        """
        self._iterator_items += 1
        if self._iterator_items > ITERATOR_ITEMS:
            self.end("not_plain", "an iterator with too many items")
        self.calls += 1
        return self._exchange(head, "", [], end)

    def exit_block(self, word: str, number: int, error: BaseException | None) -> bool:
        """Leave a `with` block of the candidate's, which may suppress its own exceptions and the test's.

        It cannot suppress a failed assertion or an exception that follows from a wrong answer.

        Args:
            word: the request, `exit` or `aexit`.
            number: number of the context manager.
            error: the exception that leaves the block, or None.

        Returns:
            True if the exception is suppressed.
        """
        described = describe_error(error) if isinstance(error, Exception) else None
        swallowed = bool(self.request_typed(bool, f"{word} {number}", described))
        if not swallowed or error is None:
            return False
        if error is not self.replies.raised and not raised_by_statement(error):
            self.end("failed", f"{type(error).__name__} in a with block of the candidate's: {exception_text(error)}")
        return True

    async def run_coroutine(self, number: int) -> Any:
        """Run a coroutine of the candidate's to its end.

        Args:
            number: number of the coroutine.

        Returns:
            The coroutine's result.
        """
        self.calls += 1
        return self.request(f"await {number}")

    def _cannot_send(self, what: str, error: NotPlainError) -> NoReturn:
        """End the run: the test's fault only if no value of the candidate's can be part of the value."""
        of_the_test = not self.replies.received_value or (
            isinstance(error, TestValueError) and not self.callbacks.depth
        )
        self.end("bad_test" if of_the_test else "not_plain", f"{what}: {error}")

    # frames

    def _exchange(self, head: str, body: str, kept: list[Any], end: type[Exception] | None = None) -> Any:
        """Send a request and receive its reply. A lock serialises the requests of the test's threads."""
        with self._lock:
            self.lent.give_back()
            self.send(head, body)
            return self.replies.answer(kept, end=end, asked=(head, body))

    def send(self, head: str, body: str) -> None:
        """Send a frame to the candidate, or end the run.

        Args:
            head: its header line.
            body: its message.
        """
        captured = [now is not then for now, then in zip((sys.stdout, sys.stderr), self.replies.streams, strict=True)]
        if any(captured):  # the test captures the output
            head = f"printing {captured[0] + 2 * captured[1]} {head}"
        try:
            self.channel.send(head, body)
        except OSError:
            self.end("gone", "the candidate closed its pipe")
        except NotPlainError as error:
            self._cannot_send("a value cannot be sent", error)

    def handle(self, number: int, sort: str, name: str) -> RemoteHandle:
        """Return the handle with a number; the same one each time, so that `is` works.

        Args:
            number: number of the object.
            sort: kind of object, one of `SORTS`.
            name: name of the object or its class.
        """
        known = self.handles.get(number)
        if known is None:
            known = self.handles[number] = RemoteHandle(HandleState(self, number, sort, name[:200]))
        return known
