"""Prints exactly as many bytes as it may, not one more."""
# proctor: {"input": "", "output_expr": "'0123456789abcde\\n' * 65536", "limits": {"output_bytes": 1048576}}
import sys

sys.stdout.write("0123456789abcde\n" * 65536)
