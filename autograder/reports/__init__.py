"""Marks to look at: rubric, class report, and the forms that other programs read."""
