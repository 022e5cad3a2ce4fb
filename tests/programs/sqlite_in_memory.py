"""Asks an SQL database in memory."""
# proctor: {"input": "3\na 5\nb 7\na 2\n", "output": "a 7\nb 7\n"}
import sqlite3

base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE t (name TEXT, value INTEGER)")
base.executemany("INSERT INTO t VALUES (?, ?)", (input().split() for _ in range(int(input()))))
for row in base.execute("SELECT name, SUM(value) FROM t GROUP BY name ORDER BY name"):
    print(*row)
