"""nbgrader's configuration: this repository is the course."""

from autograder.nbgrader import configure

c = get_config()  # nbgrader provides it
configure(c)
c.CourseDirectory.course_id = "multi_head_attention"
