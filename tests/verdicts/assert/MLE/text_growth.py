"""A text that grows without end."""


def solve(text, width):
    text += "x"
    while True:
        text += text
