"""Lowers its own recursion, stack and CPU limits, as some templates do."""
# proctor: {"input": "", "output": "ok\n"}
import resource
import sys

soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
try:
    resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))
except (ValueError, OSError):
    pass
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.setrecursionlimit(5000)
print("ok")
