"""For authors of assignments: checks of a course, generated files, new exercises and courses, pages."""
