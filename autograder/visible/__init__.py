"""Visible checks, one file an assignment: small examples with literal numbers, the same for everybody."""
