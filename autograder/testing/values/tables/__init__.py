"""pandas tables."""
