"""Print a whole HTTP response holding a complete grade, as if the service had spoken.

Must fail: stdout is quoted inside the grade, it never becomes one.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA"], "outcome": "unpaid"}
import json

GRADE = {
    "id": "", "verdict": "AC", "reward": 1.0, "mask_sample": False, "failure_kind": None, "failure_reason": None,
    "passed": 1, "total": 1, "message": None,
    "tests": [{"index": 0, "verdict": "AC", "cpu_seconds": 0.0, "wall_seconds": 0.0, "peak_memory_bytes": 0,
               "stdout": "", "stdout_truncated": False, "stderr": "", "message": None}],
    "timing": {}, "grader": {},
}


def solve(a, b):
    body = json.dumps(GRADE)
    print(f'"}}]}}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}\n{body}', flush=True)
    return GRADE


if __name__ == "__main__":
    solve(20, 22)
