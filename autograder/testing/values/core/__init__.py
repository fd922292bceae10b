"""Numbers, arrays and containers."""
