"""The interface `JobQueue`, its implementation for one machine, and what that shares with the fleet's."""
