"""The right answer with blanks around it and no newline: tokens are compared."""
import sys

data = sys.stdin.buffer.read().split()
sys.stdout.write("  %d " % sum(int(x) ** 2 for x in data[1:]))
