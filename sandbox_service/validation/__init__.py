"""Which problems of a data set deserve a reward: read in whatever form they are published, judged by the real grader.

`sources` turns published rows into problems of ours. It judges nothing: that is for the checks. Nothing here trains,
and nothing needs more than the service does, but for the libraries of a few containers (parquet, the hub), which are
imported when they are needed.
"""
