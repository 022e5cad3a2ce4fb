r"""Makes text from a box encodable as UTF-8.

A Python string can contain a lone surrogate, which UTF-8 cannot encode. JSON's `\ud800` produces one, and so does a
decoder with `surrogatepass`. Such a string cannot be sent in a response. All other text is unchanged; JSON escapes NUL
and the other control characters.
"""

from __future__ import annotations


def sendable(text: str) -> str:
    r"""Return the text with each lone surrogate written as its escape, such as `\ud800`."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
