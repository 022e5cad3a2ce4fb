"""The interface `JobQueue`, its implementation for one machine, and the parts that the fleet's shares."""
