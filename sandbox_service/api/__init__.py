"""HTTP: validates what comes in, and answers. The only place that knows status codes."""
