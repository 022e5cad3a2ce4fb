"""The HTTP API: validates requests, submits them to the queue and writes responses. Only this package knows status
codes.
"""
