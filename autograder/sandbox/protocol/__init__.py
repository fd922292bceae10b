"""What both sides of the wall speak."""
