"""`python -m autograder`."""

from autograder.commands.cli import main

main()
