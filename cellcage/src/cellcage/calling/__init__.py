"""Runs on both sides of the sandbox: performs a call and answers with plain data."""
