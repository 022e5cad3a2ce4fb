"""Words of a pattern: equal letters, alternating, sorted, the same from both ends, of equal parts, random."""

from __future__ import annotations

import random
import string

LEAST_LETTERS = 5
ALPHABETS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)


def widened(letters: str) -> str:
    """Return letters with the rest of each alphabet of which several are among them.

    Args:
        letters: Those seen. A few may be all that the problem has, as where words are made of A, C, G and T.
    """
    wide = [each for each in ALPHABETS if len(set(each) & set(letters)) >= LEAST_LETTERS]
    return "".join([*wide, *(each for each in letters if not any(each in alphabet for alphabet in wide))])


def word_of(letters: str, length: int, parts: int, pattern: str, chance: random.Random) -> str:
    """Return a word.

    Args:
        letters: Of which it is made.
        length: How many.
        parts: Equal parts of the word, but for one letter; 1 for none.
        pattern: Of the letters.
        chance: Random numbers.
    """
    if parts > 1:
        return _repeated(parts, letters, length, chance)
    if pattern in ("equal", "low", "high"):
        return chance.choice(letters) * length
    if pattern == "alternating":
        first, second = chance.choice(letters), chance.choice(letters)
        return ((first + second) * length)[:length]
    if pattern in ("narrow", "ties"):
        letters = "".join(chance.sample(letters, min(2, len(letters))))
    word = "".join(chance.choices(letters, k=length))
    if pattern in ("ascending", "descending"):
        return "".join(sorted(word, reverse=pattern == "descending"))
    if pattern == "odd one" and length:
        place = chance.randrange(length)
        return letters[0] * place + chance.choice(letters) + letters[0] * (length - place - 1)
    if pattern == "edges" and length > 1:  # the same from both ends
        half = word[: (length + 1) // 2]
        return half + half[: length // 2][::-1]
    return word


def _repeated(times: int, letters: str, length: int, chance: random.Random) -> str:
    """A word of equal parts, of which perhaps one letter is another one."""
    size = max(length // times, 1)
    word = list("".join(chance.choices(letters, k=size)) * times)
    if chance.random() < 0.8:
        place = chance.choice([0, size - 1]) if chance.random() < 0.5 else chance.randrange(size)
        word[chance.randrange(times) * size + place] = chance.choice(letters)
    return "".join(word)
