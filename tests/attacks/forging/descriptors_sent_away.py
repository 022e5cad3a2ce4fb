"""Send forged frames, with our own descriptors attached, over every descriptor that is a socket.

A host that accepts descriptors from a box could be made to read an endless or hostile file. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "OLE"], "outcome": "unpaid"}
import array
import os
import socket
import stat


def send():
    for descriptor in range(256):
        try:
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                continue
            channel = socket.socket(fileno=os.dup(descriptor))
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
            channel.sendmsg([b'{"status": 0, "ok": true}'], rights)
            print("ESCAPED a socket in the box took a message")
        except OSError:
            pass


def solve(a, b):
    send()
    return 0


if __name__ == "__main__":
    send()
    print("done")
