"""Splits the unit off an answer, and compares the units of two answers.

An unknown unit is ignored: `12 apples` is `12`. Two known units must be the same, to the same power; nothing is
converted.
"""

import re

Unit = list[str]  # the unit's name and its power

SPELLED = {
    "mm": "mm millimeter millimetre",
    "cm": "cm centimeter centimetre",
    "m": "m meter metre",
    "km": "km kilometer kilometre",
    "inch": "in inch inche",
    "foot": "ft foot feet",
    "yard": "yd yard",
    "mile": "mi mile",
    "mg": "mg milligram",
    "g": "g gram",
    "kg": "kg kilogram",
    "pound": "lb pound",
    "ounce": "oz ounce",
    "second": "s sec second",
    "minute": "min minute",
    "hour": "h hr hour",
    "day": "day",
    "week": "week",
    "month": "month",
    "year": "yr year",
    "dollar": "dollar usd",
    "cent": "cent",
    "euro": "euro",
    "degree": "deg degree",
    "radian": "rad radian",
    "ml": "ml milliliter millilitre",
    "liter": "l liter litre",
    "gallon": "gal gallon",
    "mph": "mph",
    "kmh": "kmh kph",
    "am": "am a.m",
    "pm": "pm p.m",
    "pound sterling": "gbp",
    "unit": "unit",
}
MEANT = {word: meant for meant, words in SPELLED.items() for word in words.split()}
POWERS = {"square": "2", "sq": "2", "squared": "2", "cubic": "3", "cu": "3", "cubed": "3"}
RATES = {"km/h": "kmh", "m/s": "m/s", "miles per hour": "mph", "kilometers per hour": "kmh", "meters per second": "m/s"}

# bare words after a number; single letters may be unknowns and are not units
_WORDS = sorted((word for word in MEANT if len(word) > 1 and word != "in"), key=len, reverse=True)
_BARE = re.compile(
    rf"(?P<value>.*[\d)}}\]])\s*(?P<unit>(?:(?:{'|'.join(POWERS)})\s+)?(?:{'|'.join(_WORDS)}|inches)s?)"
    r"(?:\s*\^\s*\{?(?P<power>[23])\}?)?",
    re.IGNORECASE,
)
_TEXT = re.compile(
    r"(?P<value>(?:(?!\\text).)*[\w)}\]!])\s*\\text\s*\{\s*(?P<unit>[A-Za-z][A-Za-z ./]*)\}"
    r"(?:\s*\^\s*\{?(?P<power>[23])\}?)?\.?"
)
_DEGREES = re.compile(r"(?P<value>.*\S)\s*(?:\^\s*\{\s*\\circ\s*\}|\^\s*\\circ|\\degree|°|(?<=\d)\^\s*o)")
_TRIGONOMETRY = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-z])")  # there a degree is a number
# words that change the meaning of an answer, and therefore do not name a counted thing
_TURNS = frozenset(
    """
    and or nor if mod to not no but is isn maybe perhaps either less more least most fewer under over above below about
    except without approx approximately roughly minus plus times half wrong false than one two three four five six seven
    eight nine ten
    """.split()
)


_MONEY = {"\\$": "dollar", "€": "euro", "£": "pound sterling"}
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALE = re.compile(
    rf"(?P<value>.*[\d)}}\]])\s*(?:\\text\s*\{{\s*)?(?P<scale>{'|'.join(_SCALES)})\b\s*(?P<unit>[A-Za-z ]*)\}}?",
    re.IGNORECASE,
)


def scaled(text: str) -> str:
    r"""Return an answer with a word such as `million` as a power of ten: `5\text{ million people}` is `5\times 10^{6}`.

    Args:
        text: the answer.
    """
    found = _SCALE.fullmatch(text)
    if found is None:
        return text
    unit = rf"\text{{ {found['unit'].strip()}}}" if found["unit"].strip() else ""
    return rf"{found['value']}\times 10^{{{_SCALES[found['scale'].lower()]}}}{unit}"


def split(text: str) -> tuple[str, Unit | None]:
    """Return an answer without the unit at its end, and the unit, None if it is missing or unknown.

    Args:
        text: the answer.
    """
    if not _TRIGONOMETRY.search(text) and (found := _DEGREES.fullmatch(text)):
        return found["value"], ["degree", "1"]
    found = _TEXT.fullmatch(text) or _BARE.fullmatch(text)
    if found is None or _TURNS.intersection(re.findall("[a-z]+", found["unit"].lower())):
        return text, None
    return found["value"], meaning(found["unit"], found["power"])


def money(text: str) -> Unit | None:
    r"""Return the currency of an answer by its sign, None without one. `$` alone is a delimiter, `\$` a currency.

    Args:
        text: the answer, as written.
    """
    return next(([name, "1"] for sign, name in _MONEY.items() if sign in text), None)


def meaning(words: str, power: str | None) -> Unit | None:
    """Return the unit that words mean, None if they are unknown.

    Args:
        words: the words.
        power: the written power, if any.
    """
    words = " ".join(words.lower().split()).rstrip(".")
    if words in RATES:
        return [RATES[words], "1"]
    per = [_named(part) for part in re.split(r"\s*/\s*| per ", words)]
    if len(per) > 1:
        return None if None in per else ["/".join(map(str, per)), "1"]
    named = [POWERS[word] for word in words.split() if word in POWERS]
    rest = [word for word in words.split() if word not in POWERS]
    if len(rest) != 1 or len(named) > 1:
        return None
    meant = _named(rest[0])
    return None if meant in (None, "unit") else [meant, power or (named[0] if named else "1")]


def _named(word: str) -> str | None:
    return MEANT.get(word) or MEANT.get(word.removesuffix("s"))


def differ(one: object, other: object) -> bool:
    """Return True if both units are known and different.

    Args:
        one: one unit, or None.
        other: the other, or None.
    """
    return one is not None and other is not None and one != other
