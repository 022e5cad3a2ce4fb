"""Print with backspaces, carriage returns, escape sequences, exotic digits and right-to-left marks.

Text that looks right on a screen, or that `int()` would read kindly, is not the text asked for. Must fail.
"""
# proctor: {"test": ["stdin"], "expect": ["WA"], "outcome": "unpaid"}
print("wrong\r\x1b[2K\x1b[1A?\b\b\u202e\u0664\u0662\uff14\uff12\u200b", end="\x0c\x1c\x1d\x85\u2028")
