"""The same by slow recursion, with chatter."""


def solve(text, width):
    print("cutting", len(text))
    return [text[:width], *solve(text[width:], width)] if text else []
