"""Prints its answer when its last object goes, at the end of the program."""
# proctor: {"input": "", "output": "last words\n"}


class Speaker:
    def __del__(self):
        print("last words")


speaker = Speaker()
