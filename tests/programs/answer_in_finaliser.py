"""Prints its answer from an object's finaliser while the program ends."""
# proctor: {"input": "", "output": "last words\n"}
import weakref


class Speaker:
    pass


speaker = Speaker()
weakref.finalize(speaker, print, "last words")
