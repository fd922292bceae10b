"""Explaining marks: messages, known mistakes, relations to right answers, and the place of a mistake."""
