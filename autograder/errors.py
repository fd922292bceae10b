"""What can go wrong, and whose turn it is.

    AutograderError
    ├── CourseError      the teacher's files are wrong: names file, cell and remedy
    ├── SubmissionError  the student's file cannot be read: becomes a result, never a crash
    └── MachineError     this machine could not run it: never the student's fault
        └── UnfitMachine it can run nothing: the run ends, and nobody's mark is lower for it

An `OSError` of a kind that a machine's keeper can mend, and a gradebook that does not answer, are said in words, too
(`in_words`). Anything else that escapes is a bug of the kit and shows its traceback.
"""

import errno

_RIGHTS = "give this user the right to it, or run this as a user who has it"
_GRADEBOOK = "see whether it is there, this user may write to it, and nbgrader_config.py has its address"
_ROOM = "make room, then run this again"
REMEDIES = {
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "nothing can be written there; work in a copy, or mount it for writing",
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "raise the limit on a file's size (ulimit -f)",
    errno.EMFILE: "raise the limit on open files (ulimit -n 1024)",
    errno.ENFILE: "the whole machine has too many files open; end what is not needed",
    errno.EAGAIN: "raise the limit on processes (ulimit -u 500), or use fewer --jobs",
    errno.ENOMEM: "give the machine more memory, or use fewer --jobs",
    errno.ENAMETOOLONG: "move it to a folder with a shorter path",
    errno.EIO: "the disk is faulty or gone; look at the machine's log",
}


def in_words(error: Exception) -> str | None:
    """What is wrong with this machine and what helps, in one sentence; None for an error that nobody expects."""
    for one in (error, error.__context__):  # nbgrader raises its own in the place of a database's
        if any(kind.__name__ == "SQLAlchemyError" for kind in type(one).__mro__):  # not imported without a gradebook
            said = str(getattr(one, "orig", None) or one).strip().splitlines()[0]
            return f"the gradebook cannot be used: {said}; {_GRADEBOOK}"
    if not isinstance(error, OSError) or error.errno not in REMEDIES:
        return None
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror}; {REMEDIES[error.errno]}"


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
    """The machine could not run a submission; trying again, or elsewhere, may help.

    found: what is wrong; remedy: what helps, if that is known
    """

    def __init__(self, found: str = "", remedy: str = "") -> None:
        super().__init__(f"{found}; {remedy}" if remedy else found)
        self.found, self.remedy = found, remedy


class UnfitMachine(MachineError):
    """The machine runs nothing, not even the course's own solution, so a run ends here."""
