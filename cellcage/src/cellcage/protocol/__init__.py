"""The protocol between the two sides of the sandbox."""
