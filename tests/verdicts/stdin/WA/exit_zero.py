"""Leaves with status 0 and without an answer."""
import os

os._exit(0)
