"""Never stops sleeping."""
import time


def solve(numbers, target):
    time.sleep(600)
