"""Orders data classes with slots, defaults, factories and post-initialisation on a heap."""
# proctor: {"input": "3\nb 2\na 1\nc 3\n", "output": "a b c\n"}
import heapq
from dataclasses import dataclass, field


@dataclass(order=True, slots=True)
class Task:
    rank: int
    name: str = field(compare=False)
    notes: list = field(default_factory=list, compare=False)

    def __post_init__(self):
        self.notes.append(self.name)


heap = []
for _ in range(int(input())):
    name, rank = input().split()
    heapq.heappush(heap, Task(int(rank), name))
print(*(heapq.heappop(heap).notes[0] for _ in range(len(heap))))
