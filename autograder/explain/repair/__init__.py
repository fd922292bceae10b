"""Small edits of a student's own cell. If one of them makes all tests pass, it shows where to look.

The edits are made in the text, and `search` tries them in the student's sandbox.
"""
