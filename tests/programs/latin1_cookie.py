#!/usr/bin/env python3
# -*- coding: latin-1 -*-
"""Claims another encoding after a shebang line, while all of it is plain ASCII."""
# proctor: {"input": "", "output": "plain é\n"}
print("plain", "\xe9")
