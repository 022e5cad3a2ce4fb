# -*- coding: utf-8 -*-
"""Says in its first line, as in the days of Python 2, how it is encoded, and means it: äöü."""
# proctor: {"input": "", "output": "äöü 3\n"}
print("äöü", len("äöü"))
