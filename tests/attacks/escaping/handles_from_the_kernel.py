"""Open files by kernel handles instead of names: a handle for the root's first inodes reaches outside any changed root.

This is the container escape known as "shocker". Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
for place in ("/", "/usr", "/tmp", "/dev/null"):
    try:
        mount = os.open(place, os.O_RDONLY)
    except OSError:
        continue
    for inode in (1, 2, 128):
        handle = ctypes.create_string_buffer(struct.pack("IiQ", 8, 1, inode), 16)
        if libc.open_by_handle_at(mount, handle, os.O_RDONLY) >= 0:
            print("ESCAPED opened inode", inode, "of the file system of", place)
print("held")
