"""Known mistakes, one file an assignment; see `autograder.suites.catalogue`."""
