"""Finds which mistake it is: known mistakes, what they answer, and how wrong answers are related to right ones."""
