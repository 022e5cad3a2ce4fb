"""Processes that answer large requests, so that the service's event loop parses small bodies only.

Parsing and validating a body of 64 MiB takes seconds, during which an event loop serves nothing else. So the service
parses bodies of up to 128 KiB and relays every larger request, as HTTP over a Unix socket, to a process with the same
routes:

    client ── service ──────── relay (HTTP) ───────► process: reads, validates, answers
                 ▲                                      │
                 └── queue (frames over a socket pair) ◄┘

The process has no queue of its own. Its `RemoteQueue` sends jobs to the service's `QueueServer`, and answers return the
same way, so all submissions are in one queue. The service forwards the bytes of large requests without parsing them.

A process is started by the first request that needs it and ended after a minute without requests, which frees its
memory.
"""
