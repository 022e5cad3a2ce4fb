"""Its input has leading, doubled and trailing blank lines, tabs and form feeds, which matter to it."""
# proctor: {"input": "\n\n a\t b \n\f\n\n", "output": "6 ['', '', ' a\\t b ', '\\x0c', '', '']\n"}
import sys

lines = sys.stdin.read().split("\n")
print(len(lines), lines)
