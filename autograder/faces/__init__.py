"""Where people meet the kit: the command line, nbgrader, a notebook's check cells, and pictures."""
