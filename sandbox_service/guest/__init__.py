"""Files that run inside the sandbox, under its own interpreter. The service imports only `wire`; see README.md."""
