"""Reads more than there is."""
input()
input()
input()
