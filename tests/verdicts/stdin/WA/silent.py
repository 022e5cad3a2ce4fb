"""Prints nothing."""
input()
