"""Writes two megabytes at once."""
import sys

sys.stdout.write("x" * (2 << 20))
