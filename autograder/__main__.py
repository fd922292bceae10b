"""`python -m autograder`."""

from autograder.faces.cli import main

main()
