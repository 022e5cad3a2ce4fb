"""Does its work under `if __name__ == "__main__"`."""
# proctor: {"input": "6\n", "output": "720\n"}
import math


def main():
    print(math.factorial(int(input())))


if __name__ == "__main__":
    main()
