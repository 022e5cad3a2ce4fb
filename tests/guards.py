"""The bound of every wait for something that must happen.

It guards a run of the tests against hanging, and is no statement about speed: a test that fails by it is one whose
event never came, even on a machine where fifty processes want each processor.
"""

from __future__ import annotations

HANG_GUARD_SECONDS = 300.0
