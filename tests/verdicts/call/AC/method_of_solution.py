"""A method of `Solution`, with type hints."""
from typing import List, Optional


class Solution:
    def solve(self, numbers: List[int], target: int) -> Optional[List[int]]:
        for j in range(len(numbers)):
            for i in range(j):
                if numbers[i] + numbers[j] == target:
                    return [i, j]
