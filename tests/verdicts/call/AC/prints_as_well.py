"""Prints while it works, which is nobody's business, and changes its arguments."""


def solve(numbers, target):
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    print("order", order)
    i, j = 0, len(order) - 1
    while i < j:
        total = numbers[order[i]] + numbers[order[j]]
        if total == target:
            numbers.clear()
            return sorted([order[i], order[j]])
        i, j = (i + 1, j) if total < target else (i, j - 1)
