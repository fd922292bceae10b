"""What runs behind the wall."""
