"""A course on disk: assignments, exercises and points, and the files in its folders."""
