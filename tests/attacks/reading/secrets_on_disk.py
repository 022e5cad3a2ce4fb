"""Open the places where machines keep secrets: shadow passwords, home directories, keys, tokens, sockets of daemons.

Must fail: none of them exists in here, or none may be read.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

FILES = [
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/root/.bash_history", "/root/.ssh/id_rsa", "/root/.ssh/authorized_keys",
    "/root/.docker/config.json", "/root/.netrc", "/root/.aws/credentials", "/root/.cache/huggingface/token",
    "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/kubernetes.io/serviceaccount/token",
    "/etc/kubernetes/admin.conf", "/var/lib/redis/dump.rdb", "/etc/redis/redis.conf", "/.env", "/app/.env", "/proc/1/environ",
    "/etc/ssl/private/ssl-cert-snakeoil.key", "/etc/ssh/ssh_host_ed25519_key", "/var/log/auth.log", "/var/log/syslog",
]
FOLDERS = ["/root", "/var/run/docker.sock", "/run/secrets", "/var/lib/docker", "/var/lib/kubelet", "/run/firejail", "/var/spool/cron"]
own = os.getpid()
for path in FILES:
    if path == "/proc/1/environ" and own == 1:
        continue
    try:
        with open(path, "rb") as file:
            file.read(1)
        print("ESCAPED read", path)
    except OSError:
        pass
for path in FOLDERS:
    try:
        if os.listdir(path):
            print("ESCAPED listed", path)
    except OSError:
        pass
try:
    homes = os.listdir("/home")
except OSError:
    homes = []
for home in homes:
    try:
        if os.listdir(f"/home/{home}"):
            print("ESCAPED listed the home of", home)
    except OSError:
        pass
print("held")
