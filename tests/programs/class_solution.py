"""Has the shape of a LeetCode answer, `class Solution`, with a reader of stdin below it."""
# proctor: {"input": "2 7 11 15\n9\n", "output": "0 1\n"}
from typing import List


class Solution:
    def twoSum(self, nums: List[int], target: int) -> List[int]:
        seen = {}
        for i, number in enumerate(nums):
            if target - number in seen:
                return [seen[target - number], i]
            seen[number] = i


print(*Solution().twoSum(list(map(int, input().split())), int(input())))
