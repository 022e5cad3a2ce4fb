"""Maps stdin into memory instead of reading it."""
# proctor: {"input": "7 8 9\n", "output": "24\n"}
import mmap

with mmap.mmap(0, 0, access=mmap.ACCESS_READ) as text:
    print(sum(map(int, text[:].split())))
