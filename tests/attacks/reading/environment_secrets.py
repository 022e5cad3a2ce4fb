"""Look through the environment, now and as it was at start, for keys, tokens, addresses and answers.

Must fail: the environment is made from nothing.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import re

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|REDIS|SANDBOX_|PROCTOR|AWS_|HF_|WANDB|KUBERNETES|DATABASE|_URL$|SSH_")
pairs = dict(os.environ)
with open("/proc/self/environ", "rb") as file:
    for entry in file.read().split(b"\0"):
        name, _, value = entry.decode(errors="replace").partition("=")
        pairs.setdefault(name, value)
for name in pairs:
    if SECRET.search(name.upper()):
        print("ESCAPED a secret variable is visible:", name)
print("held", len(pairs))
