"""Judging one submission: the suite, the reference, what comes of the answers, and which mistake it is."""
