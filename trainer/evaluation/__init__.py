"""`proctor evaluate`: measures the share of a model's answers that pass, reproducibly.

The training loop does not import it.

    options.py, presets.py   the command line: a model, problems, sampling settings
    formats/, problems.py    converts published data sets to the trainer's format; selects by date
                 │
    models.py    starts a vLLM, or connects to a server that has the model
                 │ one request a sample; its seed depends on problem and number
    generation.py ──► samples.jsonl                       needs a GPU, no reward service
                          │
    grading.py   ───► verdicts.jsonl                      needs the reward service, no GPU
                          │
    results.py   passk.py, interval.py, rating.py         pure: the same files give the same figures
                          │
    table.py, page.py     results.jsonl, summary.json, a table, a page
                 │
    scanner.py   repeats this for each checkpoint of a run; checkpoints.py finds complete ones

Both files are append-only (`jsonl`), one line at a time: finished work is not repeated, and a killed evaluation
continues. A sample without a verdict is not a failure: its problem has one sample less.
"""
