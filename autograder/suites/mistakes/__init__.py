"""Known mistakes, one file an assignment; see `autograder.marking.catalogue`."""
