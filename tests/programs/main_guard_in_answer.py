"""The same as it comes out of a model: within an answer that holds an earlier, wrong block."""
# proctor: {"input": "6\n", "output": "720\n", "completion": true}
import math


def main() -> None:
    n = int(input())
    print(math.factorial(n))


if __name__ == "__main__":
    main()
