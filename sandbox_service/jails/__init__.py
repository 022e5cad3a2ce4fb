"""The trusted side of the wall: starts jails, proves them, sends runs in, brings facts out."""
