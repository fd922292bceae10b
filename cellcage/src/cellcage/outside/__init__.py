"""Starts and ends the processes in the sandbox."""
