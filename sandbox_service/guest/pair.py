"""The two halves of an assert test, each in a box of its own: which descriptor is what, and where each half ends.

The submission is only ever in the candidate's box. The tester's box runs the data set's program, which is trusted,
and alone writes the report.
"""

import json
import os
from typing import NoReturn

import candidate
import program
import tester

# the candidate's box, beside the source and the cache
PRELUDE_FD, CANDIDATE_IN_FD, CANDIDATE_OUT_FD = 5, 6, 7
# the tester's box
TEST_FD, TESTER_IN_FD, TESTER_OUT_FD, REPORT_FD = 3, 4, 5, 6


def run_candidate() -> NoReturn:
    """Load the submission and answer the tester until it hangs up."""
    prelude = os.pread(PRELUDE_FD, os.fstat(PRELUDE_FD).st_size, 0).decode()
    code = program.load()
    os.closerange(program.SOURCE_FD, PRELUDE_FD + 1)
    os._exit(candidate.serve(CANDIDATE_IN_FD, CANDIDATE_OUT_FD, code, prelude or None))


def run_tester() -> NoReturn:
    """Run the test program and report how it went."""
    test = json.loads(os.pread(TEST_FD, os.fstat(TEST_FD).st_size, 0))
    os.close(TEST_FD)
    status = tester.run(
        TESTER_IN_FD, TESTER_OUT_FD, REPORT_FD, test["code"], test["prelude"] or None, test["entry_point"]
    )
    os._exit(status)
