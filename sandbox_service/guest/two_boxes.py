"""Entry points of the two boxes of an assert test, and their descriptors.

The submission runs only in the candidate's box. The tester's box runs the trusted test program, and alone writes the
report.
"""

import _signal  # type: ignore[import-not-found]  # importing `signal` would add its enumerations to every fork
import json
import os
import sys
from typing import NoReturn

import candidate
import name_table
import program
import rootfs
import stacks
import tester

# the candidate's box, beside the source and the cache
PRELUDE_FD, CANDIDATE_IN_FD, CANDIDATE_OUT_FD = 5, 6, 7
# the tester's box
TEST_FD, TESTER_IN_FD, TESTER_OUT_FD, REPORT_FD = 3, 4, 5, 6


def run_candidate() -> NoReturn:
    """Load the submission and serve the tester's requests until the tester closes the pipe."""
    prelude = os.pread(PRELUDE_FD, os.fstat(PRELUDE_FD).st_size, 0).decode()
    code, _ = program.load()
    os.closerange(program.SOURCE_FD, PRELUDE_FD + 1)
    sys.setrecursionlimit(stacks.CALL_RECURSION)
    os._exit(candidate.serve(CANDIDATE_IN_FD, CANDIDATE_OUT_FD, code, prelude or None))


def run_tester() -> NoReturn:
    """Run the test program and write the report."""
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # a signal must not become an exception that the test could catch
    test = json.loads(os.pread(TEST_FD, os.fstat(TEST_FD).st_size, 0))
    os.close(TEST_FD)
    sys.path.append(rootfs.TEST_LIBRARIES)
    sys.argv = [name_table.FILENAME]
    status = tester.run(
        TESTER_IN_FD,
        TESTER_OUT_FD,
        REPORT_FD,
        test["code"],
        test["prelude"] or None,
        test["entry_point"],
        test.get("needs_call", True),
        test.get("audit"),
    )
    os._exit(status)
