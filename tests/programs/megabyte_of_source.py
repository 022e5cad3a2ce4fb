"""Its source is more than a megabyte: a table is spelt out in it."""
# proctor: {"input": "", "output": "180000 16199910000\n", "source_expr": "source.replace('\\nTABLE = []', '\\nTABLE = ' + str(list(range(180000))))"}
TABLE = []
print(len(TABLE), sum(TABLE))
