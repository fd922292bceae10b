"""The course's own site for students: `make site`."""
