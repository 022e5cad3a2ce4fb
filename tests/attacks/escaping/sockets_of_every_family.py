"""Open sockets of every family and kind there is.

Must fail: not one family is offered (a `socketpair` would be harmless, and is not tried).
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import socket

KINDS = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET, 10)
for family in range(1, 46):
    for kind in KINDS:
        try:
            socket.socket(family, kind).close()
            print("ESCAPED a socket of family", family, "and kind", kind)
        except OSError:
            pass
print("held")
