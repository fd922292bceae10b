"""Canvas: names of files in the download, members of groups, and the gradebook's import.

`Assignment#infer_comment_context_from_filename` takes the first two numbers between underscores for the user's and the
file's (`doejane_4321_98765_first.ipynb`), and ignores a file that is not of that user's submission. `GradebookImporter`
wants `Student, ID, Section` first, finds a student by ID, and a column by its title, or by the number in brackets at
its end. https://github.com/instructure/canvas-lms
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from autograder.nbgrader.gradebook_rows import due_date, rename_students
from autograder.reports.marks_file import as_csv, write
from autograder.reports.roster import folders_of_numbers
from autograder.reports.rubric import points
from autograder.systems.collecting import GROUPS, Handed, Owner, collected_as
from autograder.systems.system import Return, System

HEAD = ("Student", "ID", "Section")
HIDDEN = "Canvas imports no marks while it hides names"
DUE = 'nbgrader db assignment add {name} --duedate="2027-03-01 12:00:00 UTC" sets it, then collect again'
_NO_FOLDER = (
    "this folder has a name that Canvas gives to files, so nothing in it is collected; rename it if it is the zip "
    "of the whole class"
)
_TWO_READINGS = (
    "this may be of {ids}; enter a roster that has the right one as id with autograder roster and collect again, or "
    "replace the zip by its unpacked files, and write the number that is part of a person's or a file's own name with "
    "a hyphen (doe-22)"
)
_NO_FILE = "a {what} was handed in, but no file"


class Canvas(System):
    """`doejane_LATE_4321_98765_first-1.ipynb` belongs to the student `doejane_4321`.

    Name, user's number, file's number and file's name, from `lib/content_zipper.rb` of Canvas. The user's number tells
    two students of one name apart, and stays the same all term. With anonymous grading it is `anon_a1B2c_98765_`. A
    group's file has the group's name and the number of one member. Of two files, the later one has the larger number.

    A name keeps its underscores: `j_smith_4331_98776_first.ipynb`. If the name may end in a number, or the file's own
    name may begin with one, the ids of the class decide. If they don't, the file is not collected.

    Canvas says that work is late, but not when it came. Late work gets a time one second after the due date in the
    gradebook, so that nbgrader's penalties apply; correct `timestamp.txt` if yours count hours or days.
    """

    title = "Canvas"
    options = ("column",)
    _name = re.compile(
        r"(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?P<user>\d+|anon_[^\W_]+)_(?:(?P<file>\d+)_|(?P<what>text|link)\.html\Z)"
    )

    def owner(self, path: Path) -> Owner | None:
        """The owner of a file, from `doejane_4321_98765_` at the beginning of the outermost name that has it."""
        for part in path.parts:
            if found := self._name.match(part):
                owner = self._owner_in(part, found)
                return replace(owner, problem=_NO_FOLDER) if part != path.parts[-1] else owner
        return None

    def _owner_in(self, part: str, found: re.Match[str]) -> Owner:
        """The owner. Of two ways to read a name, the one counts whose id is in the class.

        A course's notebook may itself begin with a number, `01_first.ipynb`; then no name ends in one.
        """
        owner, other = self._read(part, found), self._other_reading(part, found)
        if other is None or collected_as(owner) == self.assignment.notebook.name:
            return owner
        known = [one for one in (owner, other) if {one.student, one.number} & self.roster or self._members(one.student)]
        if len(known) == 1:
            return known[0]
        both = owner.student, other.student
        return Owner("", "", part, "", part, others=both, problem=_TWO_READINGS.format(ids=" or of ".join(both)))

    def _read(self, part: str, found: re.Match[str], name: str = "") -> Owner:
        """The owner by one way to read a name. `name`: the person's, if it is not the one that was found."""
        name, user = name or found["name"] or "", found["user"]
        student = "_".join(filter(None, (name, user)))
        if found["what"]:
            return Owner(student, user, part, part, part, problem=_NO_FILE.format(what=found["what"]))
        when, rest = self.when_late if found["late"] else "", part[found.end() :]
        # Canvas takes the first two numbers between underscores for the user's and the file's.
        parts = name.replace("_", "-"), (found["late"] or "").rstrip("_"), user, found["file"]
        stem = "".join(f"{part}_" for part in parts if part)
        return Owner(student, user, part, stem, rest, when, attempt=int(found["file"]))

    def _other_reading(self, part: str, found: re.Match[str]) -> Owner | None:
        """The owner if the first number belongs to the person's name, `jdoe_22`; None if it cannot."""
        if found["late"] or not found["file"] or not found["user"].isdigit():
            return None
        other = self._name.match(part, found.start("file"))
        if other is None or other["name"] or other.start("user") != found.start("file"):
            return None
        return self._read(part, other, part[: found.end("user")])

    def group_of(self, student: str) -> str:
        """The name without the number, which is that of the member who has handed in."""
        return student.rpartition("_")[0]

    def finish(self) -> None:
        """Students whom Canvas's own list has entered by number get their id, now that it is known."""
        ids = folders_of_numbers(self.roster, self.sorted_out.students - self.roster)
        if ids:
            rename_students(self.parent.coursedir, ids)
            self.roster.update(ids.values())
        super().finish()

    @property
    def own_times(self) -> tuple[str, ...]:
        """The times that `timestamp.txt` may have if no person has changed it: only one second after the due date."""
        due = due_date(self.parent.coursedir, self.parent.coursedir.assignment_id)
        return (f"{due + timedelta(seconds=1):%Y-%m-%d %H:%M:%S} UTC",) if due else ()

    @functools.cached_property
    def when_late(self) -> str:
        """The time of late work; empty if the gradebook has no due date, which is logged once."""
        if not (times := self.own_times):
            name = self.parent.coursedir.assignment_id
            self.log.warning("%s has no due date, so late work cannot be recognised; %s", name, DUE.format(name=name))
        return "".join(times)

    def with_numbers(self, handed: Handed, options: Mapping[str, str]) -> tuple[Handed, list[str]]:
        """A group's work under each member's own number, with which Canvas's ids end: the file has only one of them.

        Also names everybody whose number Canvas has hidden, since they get a page and no marks.
        """
        found, left = dict(handed), [f"{student}: {HIDDEN}" for student, owner in handed.items() if _is_hidden(owner)]
        for student, owner in handed.items():
            number = student.rpartition("_")[2]
            if owner.group and number.isdigit():
                stem = owner.stem.replace(f"_{owner.number}_", f"_{number}_", 1)
                found[student] = replace(owner, number=number, stem=stem, group="")
            elif owner.group:
                del found[student]
                left.append(f"{student}: no number at the end, by which Canvas finds a member; write it in {GROUPS}")
        return found, left

    def write_marks(self, found: Return, path: Path) -> list[str]:
        """Write what Canvas imports in its gradebook. An empty field changes nothing there."""
        rows = [
            (marks.name, found.handed[marks.student].number, "", "" if marks.score is None else points(marks.score))
            for marks in found.marks
            if marks.student in found.handed and not _is_hidden(found.handed[marks.student])
        ]
        write(path, as_csv((*HEAD, found.options.get("column", found.assignment.name)), rows))
        return []


def _is_hidden(owner: Owner) -> bool:
    """True if Canvas has hidden the name, and with it the number by which it finds a student."""
    return owner.number.startswith("anon_")
