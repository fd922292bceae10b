"""What both sides of the sandbox run: a call is performed here, and answered as plain data."""
