"""Asks for platform, version, process and user facts without relying on their values."""
# proctor: {"input": "", "output": "3 True True True\n"}
import getpass
import os
import platform
import sys

os.environ["OWN"] = "1"
print(sys.version_info.major, os.getpid() > 0, bool(platform.python_version()), os.environ.get("OWN") == "1")
