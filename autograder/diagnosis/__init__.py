"""Finds the mistake: known mistakes, their answers, and how wrong answers relate to right ones."""
