"""The sandbox protocol, its implementation, isolation tools, pool, wire, canary, filters and files. All trusted."""
