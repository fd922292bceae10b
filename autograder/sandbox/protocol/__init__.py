"""What both sides of the sandbox speak."""
