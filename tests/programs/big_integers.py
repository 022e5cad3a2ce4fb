"""Prints an integer of ten thousand digits, after lifting the limit on their conversion."""
# proctor: {"input": "", "output_expr": "'9' * 10000 + ' 10000\\n'"}
import sys

sys.set_int_max_str_digits(0)
n = 10**10000 - 1
print(n, len(str(n)))
