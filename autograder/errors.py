"""What can go wrong, and who has to act.

    AutograderError
    ├── CourseError      the teacher's files are wrong: names file, cell and remedy
    └── SubmissionError  the student's file cannot be read: becomes a result, never a crash
    MachineError         this machine could not run it: never the student's fault. The sandbox raises it, too

`EXPECTED` has both roots.

`in_words` also gives a sentence for each `OSError` that an administrator can fix, and for a gradebook that does not
answer. Any other error that escapes is a bug of the kit and shows its traceback.
"""

import errno

from cellcage.errors import MachineError as MachineError

_RIGHTS = "give this user permission, or run this as a user who has it"
_GRADEBOOK = "check that it exists, that this user can write to it, and that nbgrader_config.py has its address"
_ROOM = "make room, then run this again"
REMEDIES = {
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "nothing can be written there; work in a copy, or mount it for writing",
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "raise the limit on a file's size (ulimit -f)",
    errno.EMFILE: "raise the limit on open files (ulimit -n 1024)",
    errno.ENFILE: "the whole machine has too many files open; close what you do not need",
    errno.EAGAIN: "raise the limit on processes (ulimit -u 500), or use fewer --jobs",
    errno.ENOMEM: "give the machine more memory, or use fewer --jobs",
    errno.ENAMETOOLONG: "move it to a folder with a shorter path",
    errno.ELOOP: "remove the link, or put the file or folder itself there",
    errno.ENOTDIR: "put a folder there",
    errno.EEXIST: "move it away",
    errno.EISDIR: "move the folder away",
    errno.EIO: "the disk is faulty or gone; look at the machine's log",
}


def in_words(error: Exception) -> str | None:
    """A sentence on what is wrong with this machine and what helps; None for an unexpected error."""
    for cause in (error, error.__context__):  # nbgrader replaces a database's error by its own
        # By name, since SQLAlchemy is imported only if there is a gradebook.
        if any(kind.__name__ == "SQLAlchemyError" for kind in type(cause).__mro__):
            reason = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
            return f"the gradebook cannot be used: {reason}; {_GRADEBOOK}"
    if not isinstance(error, OSError) or error.errno not in REMEDIES:
        return None
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror}; {REMEDIES[error.errno]}"


class AutograderError(Exception):
    """The base class of all errors that the kit raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return [f"autograder: {self}"]


class CourseError(AutograderError):
    """A file of the course is wrong; the message names it and the next step."""


class SubmissionError(AutograderError):
    """A submission cannot be graded; the message is the reason given in the report."""


EXPECTED = (AutograderError, MachineError)  # every error that is raised on purpose
