"""Never stops computing."""
while True:
    pass
