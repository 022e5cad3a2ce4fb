"""A list that grows without end."""
rows = []
while True:
    rows.append(bytearray(1 << 20))
