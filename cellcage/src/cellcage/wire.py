"""What every message across the sandbox's boundary keeps to."""

MAX_ITEMS = 100_000  # items in one message; an honest one has some hundred


class WireError(Exception):
    """Bytes that are not of the agreed form."""
