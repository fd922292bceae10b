"""What tests speak with: a suite, `student` and `reference` behind it, what may be asked and said."""
