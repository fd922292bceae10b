"""Judging one submission: its notebook, each exercise's attempts, and what comes of them."""
