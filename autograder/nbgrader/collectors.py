"""Learning-management systems, whose file names `nbgrader zip_collect` and `autograder return` read.

    nbgrader zip_collect a1_first --collector=autograder.nbgrader.collectors.Canvas

reads what "Download submissions" gives, put into `downloaded/a1_first/archive/`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from autograder.nbgrader.gradebook_rows import due_date
from autograder.nbgrader.system_collector import GROUPS, METADATA, Owner, SystemCollector, can_be_a_folder, collected_as

DUE = 'nbgrader db assignment add {name} --duedate="2027-03-01 12:00:00 UTC" sets it, then collect again'
_NO_FOLDER = (
    "Canvas names a file like this, and here it is a folder, of which nothing is collected; rename it if it is the "
    "zip of the whole class"
)
_TWO_READINGS = (
    "this may be of {ids}; enter the class with autograder roster and collect again, or unpack the zip into archive/ "
    "in its place, and write the number that is part of a person's or a file's own name there with a hyphen (doe-22)"
)
_NO_FILE = "a {what} was handed in, and no file"


class Canvas(SystemCollector):
    """`doejane_LATE_4321_98765_first-1.ipynb` belongs to the student `doejane_4321`.

    Name, user's number, file's number and file's name, from `lib/content_zipper.rb` of Canvas. The user's number tells
    two students of one name apart, and stays the same all term. With anonymous grading it is `anon_a1B2c_98765_`. A
    group's file has the group's name and the number of one member. Of two files, the later one has the larger number.

    A name keeps its underscores: `j_smith_4331_98776_first.ipynb`. If the name may end in a number, or the file's own
    name may begin with one, the ids of the class decide. If they don't, the file is not collected.

    Canvas says that work is late, but not when it came. Late work gets a time one second after the due date in the
    gradebook, so that nbgrader's penalties apply; correct `timestamp.txt` if yours count hours or days.
    """

    system = "Canvas"
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
        if other is None or collected_as(owner) == self.notebook:
            return owner
        known = [one for one in (owner, other) if one.student in self.roster or self._members(one.student)]
        if len(known) == 1:
            return known[0]
        problem = _TWO_READINGS.format(ids=f"{owner.student} or of {other.student}")
        return Owner("", "", part, "", part, problem=problem)

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

    @functools.cached_property
    def when_late(self) -> str:
        """One second after the due date; empty if the gradebook has none."""
        coursedir = getattr(self.parent, "coursedir", None)
        if coursedir is None:
            return ""
        name = coursedir.assignment_id
        due = due_date(coursedir, name)
        if due is None:
            self.log.warning("%s has no due date, so that late work is not told apart; %s", name, DUE.format(name=name))
            return ""
        return f"{due + timedelta(seconds=1):%Y-%m-%d %H:%M:%S} UTC"


class Moodle(SystemCollector):
    """`Jane Doe_123456_assignsubmission_file/first.ipynb`, or both in one name, belongs to `Jane Doe`.

    From `mod/assign/classes/downloader.php` of Moodle. The number differs in each assignment, so the name has to
    identify the student. If two students have one name, neither is collected, and both are reported. Where Moodle
    hides the names, all students are called `Participant`, and an id is `Participant_123456`.

    A team's work has the group's name, `Group A_12_assignsubmission_file`, or the default group's name and no number.
    """

    system = "Moodle"
    _name = re.compile(r"(?P<name>[^_]+)(?:_(?P<user>\d+))?_assignsubmission_[a-z]+(?:_(?P<rest>.*))?")

    def owner(self, path: Path) -> Owner | None:
        """The owner of a file, from the outermost folder or file that Moodle has named."""
        for depth, part in enumerate(path.parts):
            if found := self._name.fullmatch(part):
                inside = path.parts[depth + 1 :]
                folder = part if inside else part.removesuffix(f"_{found['rest'] or ''}")
                rest = "/".join(inside) if inside else found["rest"] or ""
                hidden, number = found["name"] in self.names_for_all, found["user"] or ""
                student = f"{found['name']}_{number}" if hidden else found["name"]
                return Owner(student, number, folder, f"{folder}/", rest)
        return None

    @functools.cached_property
    def names_for_all(self) -> set[str]:
        """What students are called where Moodle hides names: `Participant`, or the one name that all of them have."""
        below = [path for folder in Path(self.extracted).glob("*") for path in (folder, *folder.glob("*"))]
        found = [match for path in below if (match := self._name.fullmatch(path.name))]
        names, numbers = {match["name"] for match in found}, {match["user"] for match in found}
        return {"Participant"} | (names if len(names) == 1 and len(numbers) > 2 else set())

    def why_no_student(self, owner: Owner, has_groups: bool) -> str:
        """A team's folder is no student's, unless its members are listed."""
        if has_groups or not owner.number or _TEAM.match(owner.student):
            return f"this is of a group; name its members in {GROUPS} beside archive/ (columns group and student)"
        return ""


_TEAM = re.compile(r"(?:group|team|gruppe|groupe|équipe|grupo|equipo|gruppo|groep)\b", re.IGNORECASE)
MAX_METADATA = 500 * 2**20  # bytes; it has all output of a class's autograder
_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:\d\d)")
_KEY = re.compile(r"(?P<entry>\S)|  (?P<key>:\w+):|  -")  # of lines that are not deeply nested
_NOBODY = "Gradescope names nobody with an id that can be a folder's name"


class Gradescope(SystemCollector):
    """`submission_456/first.ipynb` belongs to the student whom `submission_metadata.yml` beside `submission_456` names.

    "Export Submissions" gives both. A student's id is the SID of Gradescope's roster, or else the e-mail address. A
    group's work is collected for its first member, and the others are reported.
    """

    system = "Gradescope"
    apart = "correct the SID in Gradescope's roster, or leave one of them out, export again, and collect again"
    _name = re.compile(r"submission_(?P<number>\d+)")

    def owner(self, path: Path) -> Owner | None:
        """The owner of a file, from the outermost `submission_456` only: a student may hand in metadata, too."""
        for depth, part in enumerate(path.parts[:-1]):
            if found := self._name.fullmatch(part):
                metadata = Path(self.extracted, *path.parts[:depth], METADATA)
                if not metadata.is_file():
                    return None
                students, when = exported_by(metadata).get(part, ((), ""))
                first, *others = students or ("",)
                rest, problem = "/".join(path.parts[depth + 1 :]), "" if first else _NOBODY
                return Owner(first, found["number"], part, found["number"], rest, when, tuple(others), problem)
        return None


@functools.lru_cache(8)
def exported_by(metadata: Path) -> dict[str, tuple[tuple[str, ...], str]]:
    """For each submission's folder the students who handed it in, and when; the time is empty if it is missing.

    Ruby has written the file. Only the lines with submitters and times are parsed as YAML: the others hold what an
    autograder has printed, and are a hundred times as many.
    """
    if metadata.stat().st_size > MAX_METADATA:
        return {}
    with metadata.open(encoding="utf-8", errors="replace") as lines:
        try:
            data = yaml.load("".join(_wanted(lines)), yaml.BaseLoader)  # noqa: S506 - it makes only texts, lists, maps
        except yaml.YAMLError:
            return {}
    return {name: _submitters(entry) for name, entry in data.items()} if isinstance(data, dict) else {}


def _wanted(lines: Iterator[str]) -> Iterator[str]:
    """The lines of each entry with its `:submitters` and its `:created_at`."""
    key = ""
    for line in lines:
        found = _KEY.match(line)
        if found and not found["key"]:
            key = "" if found["entry"] else key
            if found["entry"] or key == ":submitters":
                yield line
        else:
            key = found["key"] if found else key
            if key in (":submitters", ":created_at"):
                yield line


def _submitters(entry: Any) -> tuple[tuple[str, ...], str]:
    fields = entry if isinstance(entry, dict) else {}
    people = fields.get(":submitters")
    ids = [_id(person) for person in people if isinstance(person, dict)] if isinstance(people, list) else []
    return tuple(filter(None, ids)), _utc(str(fields.get(":created_at")))


def _utc(text: str) -> str:
    """A time as Ruby writes it, `2026-04-26 17:34:00.861687000 Z`, as nbgrader reads it; empty if it is none."""
    found = _TIME.fullmatch(text)
    try:
        return f"{datetime.fromisoformat(found[1] + found[2]).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if found else ""
    except ValueError:
        return ""


def _id(person: dict[str, object]) -> str:
    """A person's id; empty if none can be a folder's name, since students may enter their own."""
    name = str(person.get(":sid") or person.get(":email") or "").strip()
    return name if can_be_a_folder(name) else ""
