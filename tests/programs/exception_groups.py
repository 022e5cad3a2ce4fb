"""Handles a group of exceptions with `except*`, notes and chains."""
# proctor: {"input": "", "output": "values 2\ntypes 1\nnoted True\n"}
try:
    raise ExceptionGroup("all", [ValueError(1), TypeError(2), ValueError(3)])
except* ValueError as group:
    print("values", len(group.exceptions))
except* TypeError as group:
    print("types", len(group.exceptions))
try:
    try:
        raise KeyError
    except KeyError as error:
        error.add_note("noted")
        raise RuntimeError from error
except RuntimeError as error:
    print(error.__cause__.__notes__[0], isinstance(error.__cause__, KeyError))
