"""Reopens stdout from descriptor 1 with a large buffer and closes it itself."""
# proctor: {"input": "", "output_expr": "'line\\n' * 1000"}
import sys

sys.stdout = open(1, "w", buffering=1 << 20, closefd=False)
for _ in range(1000):
    print("line")
sys.stdout.close()
sys.stdout = None
