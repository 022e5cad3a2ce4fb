"""Indented by whim."""
if True:
    print(1)
  print(2)
