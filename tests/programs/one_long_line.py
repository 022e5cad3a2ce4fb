"""Reads one line of two megabytes and prints one as long."""
# proctor: {"input_expr": "'ab' * 1000000 + '\\n'", "output_expr": "'ba' * 1000000 + '\\n'"}
print(input()[::-1])
