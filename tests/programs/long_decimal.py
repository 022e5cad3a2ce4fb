"""Computes with decimals of a hundred digits and exact fractions."""
# proctor: {"input": "", "output": "1.4142135623730950488016887242096980785696718753769480731766797379907324784621070388503875343276415727 25/24\n"}
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 101
print(Decimal(2).sqrt(), sum(Fraction(1, n) for n in (2, 3, 8, 12)) + Fraction(0))
