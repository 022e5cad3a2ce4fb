"""Has a main part, which must not run, and a helper that is defined after its use."""


def solve(numbers, target):
    return helper(numbers, target, {})


def helper(numbers, target, seen):
    for i, number in enumerate(numbers):
        if number in seen:
            return [seen[number], i]
        seen[target - number] = i


if __name__ == "__main__" and False:
    print(solve(list(map(int, input().split())), int(input())))
