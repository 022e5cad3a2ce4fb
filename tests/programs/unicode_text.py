"""Reads and writes text beyond ASCII: the streams must be UTF-8 whatever the machine's locale."""
# proctor: {"input": "naïve café ☕ 日本語\n", "output": "18 語本日 ☕ éfac evïan 👍\n"}
text = input()
print(len(text) + 2, text[::-1], "\N{THUMBS UP SIGN}")
