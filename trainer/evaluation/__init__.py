"""`proctor evaluate`: what a model can do, in figures that another day and another machine would give as well.

    options.py, presets.py   what is asked for: a model, problems, how samples are drawn
    formats/, problems.py    published data sets and our own files, one form for both; windows of dates
                 │
    models.py    a vLLM that is started, or whoever serves the model at a URL
                 │ one request a sample, its seed from problem and number
    generation.py ──► samples.jsonl                       needs a GPU, and no reward service
                          │
    grading.py   ───► verdicts.jsonl                      needs the reward service, and no GPU
                          │
    results.py   passk.py, interval.py, rating.py         pure: the same files, the same figures
                          │
    table.py, page.py     results.jsonl, summary.json, a table, a page
                 │
    scanner.py   all this for each checkpoint of a run, once: checkpoints.py says which are whole

Both files are only ever appended to (`journal`), a line at a time: whatever is in them is not done again, and a run
that was killed goes on where it was. A sample without a verdict is no failure: its problem has one sample less.
"""
