"""Examples that train a tiny model, without a GPU, from rewards of the real service. Not in the wheel.

    arithmetic.py   `make train`: one policy learns what three words mean
    duel.py         a solver and a tester train each other, as one model or as two
    tiny.py         the model, its tokenizer and its pre-training
    running.py      what both share: the service, the runs, the curves

They use the trainer as its users do, by configurations and `python -m trainer`.
"""
