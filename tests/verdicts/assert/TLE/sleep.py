"""Never stops sleeping."""
import time


def solve(text, width):
    time.sleep(600)
