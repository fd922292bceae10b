"""Shows marks: rubric, class report, and formats for other programs."""
