"""Splits the unit off an answer, and compares the units of two answers.

An unknown unit is ignored: `12 apples` is `12`. Two known units must be the same, to the same power; nothing is
converted.
"""

import re

from latex_spelling import as_list

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
    "euro": "euro eur",
    "yen": "yen jpy",
    "rupee": "rupee inr",
    "yuan": "yuan cny rmb",
    "degree": "deg degree",
    "celsius": "celsius",
    "fahrenheit": "fahrenheit",
    "kelvin": "kelvin",
    "radian": "rad radian",
    "ml": "ml milliliter millilitre",
    "liter": "l liter litre",
    "gallon": "gal gallon",
    "mile/hour": "mph",
    "km/hour": "kmh kph",
    "am": "am a.m",
    "pm": "pm p.m",
    "pound sterling": "gbp",
    "unit": "unit",
}
MEANT = {word: meant for meant, words in SPELLED.items() for word in words.split()}
POWERS = {"square": "2", "sq": "2", "squared": "2", "cubic": "3", "cu": "3", "cubed": "3"}

# bare words after a number; single letters may be unknowns and are not units
_WORDS = sorted((word for word in MEANT if len(word) > 1 and word != "in"), key=len, reverse=True)
_BARE = re.compile(
    rf"(?P<value>.*[\d)}}\]])\s*(?P<unit>(?:(?:{'|'.join(POWERS)})\s+)?(?:{'|'.join(_WORDS)}|inches)s?)"
    r"(?:\s*\^\s*\{?(?P<power>[23])\}?)?",
    re.IGNORECASE,
)
_TEXT = re.compile(
    r"(?P<value>(?:(?!\\text).)*[\w)}\]!])\s*\\text\s*\{\s*(?P<unit>[A-Za-z](?:[A-Za-z ./]|\^-?\d)*)\}"
    r"(?:\s*\^\s*\{?(?P<power>[23])\}?)?\.?"
)
# a rate without \text. Single letters are units only in the usual pairs: elsewhere they are unknowns
_NAME = rf"(?:{'|'.join(sorted(MEANT, key=len, reverse=True))}|inches)s?"
_BARE_RATE = re.compile(
    rf"(?P<value>.*[\d)}}\]])\s*"
    rf"(?P<unit>(?P<one>{_NAME})(?:\s*/\s*|\s+per\s+)(?P<other>{_NAME})(?:\^\{{?[23]\}}?)?)(?P<power>)",
    re.IGNORECASE,
)
_LETTER_RATES = frozenset(("m/s", "m/h", "g/l", "l/s", "l/h"))
_COUNTED = re.compile(
    r"(?P<value>[-+]?(?:\d[\d,]*(?:\.\d+)?(?:/\d+)?|\\frac\s*\{\d+\}\s*\{\d+\}))\s+"
    r"(?P<unit>[A-Za-z]{4,}(?: [A-Za-z]+){0,3})(?P<power>)"
)
# spellings of units as one \text
_UNIT = r"\\text\s*\{([^{}]*)\}((?:\s*\^\s*-?\d)?)"
_FLATTENING = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (rf"(?<=[\d)}}\]])\s*\\operatorname\*?\s*\{{\s*({_NAME})\s*\}}", r"\\text{\1}"),
        (r"(\\text\s*\{[^{}]*(?:\}\s*)?)\^\s*\{\s*(-?\d)\s*\}", r"\1^\2"),
        (rf"(?<=[\d)}}\]])\s*\\frac\s*\{{\s*{_UNIT}\s*\}}\s*\{{\s*{_UNIT}\s*\}}$", r"\\text{\1\2/\3\4}"),
        (
            r"(?<=[\d)}\]])\s*\\frac\s*\{\s*(mm|cm|m|km|g|kg|ft|mi)\s*\}\s*\{\s*(s|h|hr|min|L)(\^\d)?\s*\}$",
            r"\\text{\1/\2\3}",
        ),
        (rf"{_UNIT}\s*(/|\\cdot(?![a-zA-Z])|)\s*{_UNIT}$", r"\\text{\1\2 \3 \4\5}"),
        (r"(\\text\s*\{[^{}\\]*)\\cdot(?![a-zA-Z])", r"\1 "),
        # of `m s^{-1}` the power belongs to the second unit
        (r"(\\text\s*\{\s*[A-Za-z]+ +[A-Za-z]+)\s*\}\s*\^\s*(-\d)$", r"\1^\2}"),
    )
)
_DEGREE = r"\s*(?:\^\s*\{\s*\\circ\s*\}|\^\s*\\circ|\\degree|°|(?<=\d)\^\s*o)"
_DEGREES = re.compile(rf"(?P<value>.*\S){_DEGREE}")
_TEMPERATURE = re.compile(rf"(?P<value>.*\S){_DEGREE}\s*(?:\\text\s*\{{\s*([CF])\s*\}}|([CF]))")
_TEMPERATURES = {"C": "celsius", "F": "fahrenheit"}
_ANGLE = re.compile(rf"(\d+(?:\.\d+)?)(?![\d.])({_DEGREE})?")
_TRIGONOMETRY = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-z])")  # there a degree is a number
# words that change the meaning of an answer, and therefore do not name a counted thing
_TURNS = frozenset(
    """
    and or nor if mod to not no but is isn maybe perhaps either less more least most fewer under over above below about
    except without approx approximately roughly minus plus times half wrong false than one two three four five six seven
    eight nine ten dozen half halves third thirds fourths fifths sixths sevenths eighths ninths tenths hundredths
    thousandths divided multiplied by choose factorial power root percent negative into through between equals equal
    zero eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
    seventy
    eighty ninety quadrillion quintillion googol lakh lakhs crore crores bn mn ppm permille mille dozens tens
    tenth hundredth thousandth millionth billionth trillionth millionths billionths trillionths elevenths twelfths
    sixteenths twentieths double doubled triple tripled quadruple quadrupled halved twice thrice tenfold
    hundredfold thousandfold inverse reciprocal opposite negated greater smaller larger exceeds beyond versus unequal
    never repeating recurring repeats recurs score gross basis ppb myriad modulo conjugate transposed reversed excluded
    short googols nano micro milli centi deci kilo mega giga tera fold sixteenth seventeenth eighteenth nineteenth
    remainder
    cannot incorrect undefined impossible unknown binary octal hex hexadecimal
    hundred thousand million billion trillion pi infinity infty inf sqrt log ln exp sin cos tan imaginary x y z
    """.split()
)


_MONEY = {"\\$": "dollar", "€": "euro", "£": "pound sterling", "¥": "yen", "₹": "rupee"}
_CODE = re.compile(
    r"\s*\$?\s*(?:\\text\s*\{\s*)?(USD?|EUR|GBP|JPY|INR|Rs\.?|CNY|RMB)\s*\}?\s*"
    r"(?=(?P<sign>\\\$)|\$|~|\\[,:; ]|[-+\d.])"
)
_CODES = {"US": "dollar", "Rs": "rupee"}
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
    if found := _TEMPERATURE.fullmatch(text):
        return found["value"], [_TEMPERATURES[found[2] or found[3]], "1"]
    if not _TRIGONOMETRY.search(text) and (found := _DEGREES.search(text)):
        if _is_list_of_angles(text):
            return _ANGLE.sub(r"\1 ", text), ["degree", "1"]  # the blank: `30,150` is a thousand
        if found.end() == len(text):
            return found["value"], ["degree", "1"]
    found = _matched(text)
    if found is None or _turns(re.findall("[a-z]+", found["unit"].lower())) or _is_letter(found["unit"].strip()):
        return text, None
    return found["value"], meaning(found["unit"], found["power"])


def _is_list_of_angles(text: str) -> bool:
    return "," in as_list(text) and all(found[2] for found in _ANGLE.finditer(text))


_SYMBOLS = frozenset("NJWVACFHTKL")  # of SI units that are not spelled above


def _is_letter(unit: str) -> bool:
    r"""Return True for one letter that is no unit: `12\text{ n}` may be a product, `12\text{ k}` a thousand."""
    return len(unit) == 1 and unit not in _SYMBOLS and unit not in MEANT


def _turns(words: list[str]) -> bool:
    """Return True for words that are no unit: `7 or 8`, `7 squared`."""
    return not _TURNS.isdisjoint(words) or words[:1] in (["squared"], ["cubed"])


def _matched(text: str) -> re.Match[str] | None:
    """Return the value and the unit at its end, in one of the ways in which units are written."""
    flat = text
    for pattern, instead in _FLATTENING:
        flat = pattern.sub(instead, flat)
    if found := _TEXT.fullmatch(flat):
        return found
    rate = _BARE_RATE.fullmatch(text)
    if rate and (len(rate["one"] + rate["other"]) > 2 or f"{rate['one']}/{rate['other']}".lower() in _LETTER_RATES):
        return rate
    return _BARE.fullmatch(text) or _COUNTED.fullmatch(text)


def money(text: str) -> tuple[str, Unit | None]:
    r"""Return an answer without the currency's code before it, and the currency by code or sign; None without one.

    `$` alone is a delimiter, `\$` a currency.

    Args:
        text: the answer, as written.
    """
    if (found := _CODE.match(text)) and (found[1] != "US" or found["sign"]):
        code = found[1].rstrip(".")
        return text[found.end() :], [_CODES.get(code) or MEANT.get(code.lower()) or code.lower(), "1"]
    return text, next(([name, "1"] for sign, name in _MONEY.items() if sign in text), None)


_PLAIN_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
_TERM = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]+)\.?(?:,? and | ?, ?| )?")


def compound(text: str) -> str | None:
    """Return a quantity in several units in one spelling, `5 hour 30 minute`; None for any other text.

    Args:
        text: the answer.
    """
    plain = " ".join(_PLAIN_TEXT.sub(r" \1 ", text).lower().split())
    terms = list(_TERM.finditer(plain))
    if len(terms) < 2 or "".join(term[0] for term in terms) != plain:
        return None
    named = [_named(term[2]) for term in terms]
    return None if None in named else " ".join(f"{term[1]} {name}" for term, name in zip(terms, named, strict=True))


def meaning(words: str, power: str | None) -> Unit | None:
    """Return the unit that words mean, None if they are unknown.

    Args:
        words: the words, perhaps with powers: `square meters`, `m/s^2`, `m s^-1`, `miles per hour`.
        power: a power of all of it.
    """
    words = " ".join(re.sub(r"[{}]", "", words.lower()).split()).rstrip(".")
    words = re.sub(r"\s*\b([a-z]+)\s*\^\s*-(\d)", r"/\1^\2", words)
    parts = [_part(part) for part in re.split(r"\s*/\s*|\s+per\s+", words)]
    if None in parts or parts == [("unit", "1")]:
        return None
    named = [name if its_power == "1" else f"{name}^{its_power}" for name, its_power in filter(None, parts)]
    if len(named) == 1 and parts[0] is not None:
        return [parts[0][0], power or parts[0][1]]
    return ["/".join(named) + (f"^{power}" if power else ""), "1"]


def _part(words: str) -> tuple[str, str] | None:
    """Return the name and the power of one unit, None if it is unknown."""
    found = re.fullmatch(r"(.*?)\s*\^\s*(\d)", words)
    words, power = (found[1], found[2]) if found else (words, "")
    named = [POWERS[word] for word in words.replace(".", "").split() if word in POWERS]
    rest = [word for word in words.split() if word.rstrip(".") not in POWERS]
    rest = rest[1:] if len(rest) > 1 and rest[0] in ("degree", "degrees") else rest
    if len(rest) != 1 or len(named) > 1:
        return None
    meant = _named(rest[0].rstrip("."))
    return None if meant is None else (meant, power or (named[0] if named else "1"))


def _named(word: str) -> str | None:
    return MEANT.get(word) or MEANT.get(word.removesuffix("s"))


def differ(one: object, other: object) -> bool:
    """Return True if both units are known and different.

    Args:
        one: one unit, or None.
        other: the other, or None.
    """
    return one is not None and other is not None and one != other
