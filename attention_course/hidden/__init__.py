"""What the hidden tests share. How to write one: docs/writing-exercises.md, "Hidden tests"."""
