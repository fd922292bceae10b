"""What can go wrong, and whose turn it is.

    AutograderError
    ├── CourseError      the teacher's files are wrong: names file, cell and remedy
    ├── SubmissionError  the student's file cannot be read: becomes a result, never a crash
    └── MachineError     this machine could not run it: never the student's fault

Anything else that escapes is a bug of the kit and shows its traceback.
"""


class AutograderError(Exception):
    """The root of every error the kit raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this, and none of our lines, if a notebook runs into it."""
        return [f"autograder: {self}"]


class CourseError(AutograderError):
    """A file of the course is wrong; the message names it and the next step."""


class SubmissionError(AutograderError):
    """A submission cannot be graded; the message is the reason that stands in the report."""


class MachineError(AutograderError):
    """The machine could not run a submission; trying again, or elsewhere, may help."""
