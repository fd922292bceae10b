"""Marking one submission: its notebook, each exercise's attempts, and the rules."""
