"""Parses its empty command line with `argparse`, defaults and all."""
# proctor: {"input": "", "output": "3\n"}
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("-n", type=int, default=3)
print(parser.parse_args().n)
