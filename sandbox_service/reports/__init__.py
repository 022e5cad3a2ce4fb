"""Charts and HTML pages, shared by the validation job and the trainer.

    axes.py       scales, ticks and number formats
    charts.py     line, area, band, histogram and scatter charts as data
    pages.py      the Jinja2 environment, and writing a file in one step
    templates/    the page skeleton, the style sheet, and macros that draw a chart as SVG

A page is one file: no scripts, and no requests to other hosts. The package imports nothing else of the service, so that
the trainer may import it without the service's dependencies (an import contract in pyproject.toml holds this).
"""
