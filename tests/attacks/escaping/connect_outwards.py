"""Open connections to the outside: name servers, the cloud's metadata service, Redis, Docker, the service itself.

Must fail: there is no network, and no daemon's socket.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import socket

PLACES = [("127.0.0.1", port) for port in (22, 53, 80, 2375, 5432, 6379, 8000, 8080, 9090)]
PLACES += [("169.254.169.254", 80), ("1.1.1.1", 53), ("8.8.8.8", 53), ("10.0.0.1", 443), ("172.17.0.1", 2375)]
for place in PLACES:
    try:
        socket.create_connection(place, timeout=0.05).close()
        print("ESCAPED connected to", *place)
    except OSError:
        pass
for path in ("/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "\0firejail", "/tmp/.X11-unix/X0"):
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.connect(path)
        print("ESCAPED connected to", repr(path))
    except OSError:
        pass
try:
    if socket.getaddrinfo("example.com", 80):
        print("ESCAPED resolved a name")
except OSError:
    pass
print("held")
