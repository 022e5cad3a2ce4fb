"""The slot processes of one machine: the pool that owns them, one seen from its owner, one seen from inside."""
