"""Sets the locale, formats dates and asks for the time zone, which is UTC."""
# proctor: {"input": "", "output": "Thursday 01 January 1970 00:00 1,234.50 0\n"}
import locale
import time

locale.setlocale(locale.LC_ALL, "C")
print(time.strftime("%A %d %B %Y %H:%M", time.localtime(0)), f"{1234.5:,.2f}", time.timezone)
