"""Small edits of a student's own cell. If one of them makes all tests pass, it shows where to look.

Nothing here runs code: the edits are made in the text, and `judge.repair` tries them in the student's sandbox.
"""
