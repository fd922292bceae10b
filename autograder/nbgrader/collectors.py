"""File names of learning-management systems, for nbgrader's own `zip_collect`.

    nbgrader zip_collect a1_scaled_dot_product --collector=autograder.nbgrader.collectors.Canvas

reads what "Download submissions" gives, put into `downloaded/a1_scaled_dot_product/archive/`.
"""

from __future__ import annotations

import contextlib
import functools
import re
from datetime import timedelta
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import FileNameCollectorPlugin

# "-1" and so on is what a system appends to a file that is handed in again, " (1)" what a browser does.
# Beside a notebook there may be a saved model. Of that a browser's copy stays another file: two of one name would end
# the collecting for all.
NOTEBOOK = r"(?P<file_id>.+?)(?:(?:-\d+| ?\(\d+\))?\.ipynb|(?:-\d+)?\.safetensors)$"

DUE = 'nbgrader db assignment add {name} --duedate="2027-03-01 12:00:00 UTC" sets it, then collect again'


class Canvas(FileNameCollectorPlugin):
    """`doejane_LATE_4321_98765_scaled_dot_product-1.ipynb` is of student `doejane_4321`.

    Name, user's number, file's number and file's name, from `lib/content_zipper.rb` of Canvas. The number tells two
    students of one name apart, and stays the same all term.

    Of late work Canvas says that it is late, and not when it came. It gets a time one second after the due date in the
    gradebook, so that nbgrader's penalties count; correct `timestamp.txt` if yours go by hours or days.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """The student and the notebook, or None if the file is not Canvas's."""
        found = re.match(rf"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_\d+_{NOTEBOOK}", Path(submitted_file).name)
        if not found:
            return None
        student = {"student_id": f"{found['name']}_{found['user']}", "file_id": found["file_id"]}
        return student | ({"timestamp": self.when_late} if found["late"] and self.when_late else {})

    @functools.cached_property
    def when_late(self) -> str:
        """One second after the due date; empty if the gradebook has none."""
        coursedir = getattr(self.parent, "coursedir", None)
        if coursedir is None:
            return ""
        with Gradebook(coursedir.db_url, coursedir.course_id) as book:
            due = None
            with contextlib.suppress(MissingEntry):
                due = book.find_assignment(coursedir.assignment_id).duedate
        if due is None:
            name = coursedir.assignment_id
            self.log.warning("%s has no due date, so that late work is not told apart; %s", name, DUE.format(name=name))
            return ""
        return f"{due + timedelta(seconds=1):%Y-%m-%d %H:%M:%S} UTC"


class Moodle(FileNameCollectorPlugin):
    """`Jane Doe_123456_assignsubmission_file/scaled_dot_product.ipynb`, or both in one name, is of `Jane Doe`.

    From `mod/assign/classes/downloader.php` of Moodle. Its number is another one in each assignment, so the name
    has to do. If two students have one name, nbgrader refuses them as a duplicate.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """The student and the notebook, or None if the file is not Moodle's."""
        path = Path(submitted_file)
        whole = f"{path.parent.name}/{path.name}" if "_assignsubmission_" in path.parent.name else path.name
        found = re.match(rf"(?P<name>[^_]+)_\d+_assignsubmission_file_?/?{NOTEBOOK}", whole)
        return found and {"student_id": found["name"], "file_id": found["file_id"]}
