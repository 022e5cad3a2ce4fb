"""Create empty files and folders until the file system has no inodes left.

They take memory though they hold nothing. Must fail at the box's own limit.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless", "runs": 2}
import errno
import os

count = 0
try:
    while count < 300_000:
        os.close(os.open(f"/tmp/{count}", os.O_CREAT | os.O_WRONLY))
        count += 1
    print("ESCAPED three hundred thousand inodes")
except OSError as error:
    if count == 0 and error.errno == errno.ENOSPC:
        print("ESCAPED another run left no inode")
print("held", count)
