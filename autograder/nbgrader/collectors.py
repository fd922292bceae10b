"""Whose a file is: names of learning-management systems, for nbgrader's own `zip_collect` and for `autograder return`.

    nbgrader zip_collect a1_first --collector=autograder.nbgrader.collectors.Canvas

reads what "Download submissions" gives, put into `downloaded/a1_first/archive/`.

Only the outermost name counts, which the system itself wrote. What is inside a hand-in has names that a student chose.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Unicode, default

from autograder.errors import SubmissionError
from autograder.submission import name_problem
from autograder.text import printable, shown_name

# "-1" and so on is what a system appends to a file that is handed in again, " (1)" what a browser does.
# Beside a notebook there may be a saved model. Of that a browser's copy stays another file.
NOTEBOOK = re.compile(r"(?P<file_id>.+?)(?:(?:-\d+| ?\(\d+\))?\.ipynb|(?:-\d+)?\.safetensors)")

DUE = 'nbgrader db assignment add {name} --duedate="2027-03-01 12:00:00 UTC" sets it, then collect again'


ARCHIVES = (".zip", ".gz", ".tar", ".tgz", ".7z", ".rar")  # what students pack their work into
SHOWN = 3  # names of files in a sentence
_NOT_OPENED = "is not opened; if it is what the system gave you, put it into archive/ itself, as a .zip"


@dataclass(frozen=True)
class Owner:
    """Whose a file is.

    student: the id, a folder's name; empty if the system names nobody
    number: the submission's or the user's number in the system
    written: what the system wrote, as a teacher finds it in the download
    stem: the beginning of the name that a page needs to find its way back
    rest: the file's own name, with the folders that a student put it in
    when: the time of handing in; empty if the system does not say
    others: who else has handed it in
    problem: why nothing of this owner's is collected
    """

    student: str
    number: str
    written: str
    stem: str
    rest: str
    when: str = ""
    others: tuple[str, ...] = ()
    problem: str = ""


@dataclass
class SortedOut:
    """Files that are collected, by place, each with its owner; and a sentence for whatever was left."""

    taken: dict[Path, Owner] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


class SystemCollector(FileNameCollectorPlugin):
    """A system's names. All files are sorted out before the first is collected, since one may rule out another."""

    system = ""
    apart = "unpack the zip into archive/ in its place, rename or remove one of them there, and collect again"
    extracted = Unicode(help="the folder with what was unpacked, below which the system's names begin")

    @default("extracted")
    def _extracted_default(self) -> str:
        app: Any = self.parent
        return str(app._format_collect_path(app.extracted_directory)) if app is not None else ""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """The student and the notebook, or None if the file is not collected."""
        owner = self.sorted_out.taken.get(Path(submitted_file))
        if owner is None:
            return None
        told = {"student_id": owner.student, "file_id": _file_id(owner)}
        return told | ({"timestamp": owner.when} if owner.when else {})

    @property
    def left(self) -> list[str]:
        """A sentence for everybody, and for every notebook, that is not collected."""
        return self.sorted_out.left

    @functools.cached_property
    def sorted_out(self) -> SortedOut:
        """What is collected of all that was unpacked, and what is left."""
        found, owned = SortedOut(), defaultdict[str, list[tuple[Path, Owner]]](list)
        for path in _plain_files(Path(self.extracted)):
            owner = self.owner(path)
            if owner is not None:
                owned[owner.student or owner.written].append((path, owner))
            elif path.suffix == ".ipynb":
                found.left.append(f"{printable(str(path))}: no name of {self.system}'s says whose it is")
            elif path.name.lower().endswith(ARCHIVES):
                found.left.append(f"{printable(str(path))} {_NOT_OPENED}")
        for files in owned.values():
            try:
                taken = _taken_of(files, self.apart)
            except SubmissionError as error:
                found.left.append(str(error))
            else:
                found.taken |= {Path(self.extracted, path): owner for path, owner in taken.items()}
                self._tell_of_group(files[0][1])
        return found

    def _tell_of_group(self, owner: Owner) -> None:
        if owner.others:
            told = (owner.written, shown_name(owner.student), ", ".join(map(shown_name, owner.others)))
            self.log.warning("%s is collected for %s; it is also of %s", *told)

    def owner(self, path: Path) -> Owner | None:
        """Whose a file is by the outermost of the system's names; None if it has none. `path` is below `extracted`."""
        raise NotImplementedError


def _plain_files(folder: Path) -> Iterator[Path]:
    """Plain files in a folder and below, by their place in it."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        found = (Path(place, name) for name in sorted(names))
        yield from (path.relative_to(folder) for path in found if path.is_file() and not path.is_symlink())


def _taken_of(files: Sequence[tuple[Path, Owner]], apart: str) -> dict[Path, Owner]:
    """What is collected of one student's files. Raises `SubmissionError` with a whole sentence if nothing is.

    apart: what a teacher can do about two hand-ins, or two files, of one name
    """
    owner = files[0][1]
    student = shown_name(owner.student)
    if owner.problem:
        raise SubmissionError(f"{printable(owner.written)}: {owner.problem}")
    if not can_be_a_folder(owner.student):
        raise SubmissionError(f"{printable(owner.written)}: '{student}' cannot be a folder's name")
    if len({one.number for _, one in files}) > 1:
        both = " and ".join(sorted({printable(one.written) for _, one in files}))
        raise SubmissionError(f"{both}: the same student '{student}', so neither is collected; {apart}")
    by_name = defaultdict[str, list[tuple[Path, Owner]]](list)
    for path, one in files:
        if _file_id(one):
            by_name[collected_as(one)].append((path, one))
    taken = dict(_outermost(same, name, apart) for name, same in by_name.items())
    if not any(path.suffix == ".ipynb" for path in taken):
        raise SubmissionError(_no_notebook(student, [one.rest for _, one in files]))
    return taken


def _outermost(same: Sequence[tuple[Path, Owner]], name: str, apart: str) -> tuple[Path, Owner]:
    """Of a student's files that would have one name the outermost. Raises `SubmissionError` if there are two."""
    depth = min(one.rest.count("/") for _, one in same)
    found = [(path, one) for path, one in same if one.rest.count("/") == depth]
    if len(found) > 1:
        both, student = " and ".join(printable(str(path)) for path, _ in found), shown_name(found[0][1].student)
        raise SubmissionError(f"{student}: {both} would both be {printable(name)}, so neither is collected; {apart}")
    return found[0]


def _no_notebook(student: str, names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
    packed = any(name.lower().endswith(ARCHIVES) for name in names)
    why = "; an archive within a hand-in is not opened, so ask for the notebook itself" if packed else ""
    return f"{student}: no notebook among what was handed in ({shown}){why}"


def _file_id(owner: Owner) -> str:
    found = NOTEBOOK.fullmatch(Path(owner.rest).name)
    return found["file_id"] if found else ""


def collected_as(owner: Owner) -> str:
    """The name that nbgrader gives a file: it cuts a second suffix off."""
    return os.path.splitext(_file_id(owner))[0] + Path(owner.rest).suffix


def can_be_a_folder(name: str) -> bool:
    """Can a student's id be the name of a folder? Students may have entered it themselves."""
    return bool(name) and "/" not in name and name_problem(name) is None


_NO_FOLDER = (
    "Canvas names a file like this, and here it is a folder, of which nothing is collected; rename it if it is the "
    "zip of the whole class"
)


class Canvas(SystemCollector):
    """`doejane_LATE_4321_98765_first-1.ipynb` is of student `doejane_4321`.

    Name, user's number, file's number and file's name, from `lib/content_zipper.rb` of Canvas. The number tells two
    students of one name apart, and stays the same all term.

    Of late work Canvas says that it is late, and not when it came. It gets a time one second after the due date in the
    gradebook, so that nbgrader's penalties count; correct `timestamp.txt` if yours go by hours or days.
    """

    system = "Canvas"
    _name = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_\d+_")

    def owner(self, path: Path) -> Owner | None:
        """Whose a file is, by `doejane_4321_98765_` at the beginning of the outermost name that has it."""
        for part in path.parts:
            if found := self._name.match(part):
                student, when = f"{found['name']}_{found['user']}", self.when_late if found["late"] else ""
                problem = _NO_FOLDER if part != path.parts[-1] else ""
                return Owner(student, found["user"], part, found[0], part[found.end() :], when, problem=problem)
        return None

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


class Moodle(SystemCollector):
    """`Jane Doe_123456_assignsubmission_file/first.ipynb`, or both in one name, is of `Jane Doe`.

    From `mod/assign/classes/downloader.php` of Moodle. Its number is another one in each assignment, so the name
    has to do. If two students have one name, neither is collected, and both are named.
    """

    system = "Moodle"
    _name = re.compile(r"(?P<name>[^_]+)_(?P<user>\d+)_assignsubmission_file(?:_(?P<rest>.*))?")

    def owner(self, path: Path) -> Owner | None:
        """Whose a file is, by the outermost folder or file that Moodle has named."""
        for depth, part in enumerate(path.parts):
            if found := self._name.fullmatch(part):
                inside = path.parts[depth + 1 :]
                folder = part if inside else part.removesuffix(f"_{found['rest'] or ''}")
                rest = "/".join(inside) if inside else found["rest"] or ""
                return Owner(found["name"], found["user"], folder, f"{folder}/", rest)
        return None


METADATA = "submission_metadata.yml"  # at the root of what Gradescope exports
MAX_METADATA = 500 * 2**20  # bytes; it has all that a class's autograder has ever said
_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:\d\d)")
_KEY = re.compile(r"(?P<entry>\S)|  (?P<key>:\w+):|  -")  # of lines that are not deep inside of something


@dataclass(frozen=True)
class Exported:
    """A submission as Gradescope exports it: who handed it in, and when; empty if it does not say."""

    students: tuple[str, ...]
    when: str = ""


_NOBODY = "Gradescope names nobody with an id that can be a folder's name"


class Gradescope(SystemCollector):
    """`submission_456/first.ipynb` is of whom `submission_metadata.yml` beside `submission_456` names.

    That is what "Export Submissions" gives. A student's id is the SID of Gradescope's roster, or else the e-mail
    address. The work of a group is collected for its first member, and the others are named.
    """

    system = "Gradescope"
    apart = "correct the SID in Gradescope's roster, or leave one of them out, export again, and collect again"
    _name = re.compile(r"submission_(?P<number>\d+)")

    def owner(self, path: Path) -> Owner | None:
        """Whose a file is, by the outermost `submission_456` alone: a student may hand in metadata, too."""
        for depth, part in enumerate(path.parts[:-1]):
            if found := self._name.fullmatch(part):
                metadata = Path(self.extracted, *path.parts[:depth], METADATA)
                if not metadata.is_file():
                    return None
                exported = exported_to(metadata).get(part, Exported(()))
                first, *others = exported.students or ("",)
                rest, problem = "/".join(path.parts[depth + 1 :]), "" if first else _NOBODY
                return Owner(first, found["number"], part, found["number"], rest, exported.when, tuple(others), problem)
        return None


@functools.lru_cache(8)
def exported_to(metadata: Path) -> dict[str, Exported]:
    """Each submission by the name of its folder.

    Ruby has written it. Only the lines with submitters and times are read as YAML: the others hold what an autograder
    has said of strangers' work, and are a hundred times as many.
    """
    if metadata.stat().st_size > MAX_METADATA:
        return {}
    with metadata.open(encoding="utf-8", errors="replace") as lines:
        try:
            data = yaml.load("".join(_wanted(lines)), yaml.BaseLoader)  # noqa: S506 - it makes texts, lists and maps alone
        except yaml.YAMLError:
            return {}
    return {name: _exported(entry) for name, entry in data.items()} if isinstance(data, dict) else {}


def _wanted(lines: Iterator[str]) -> Iterator[str]:
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


def _exported(entry: Any) -> Exported:
    told = entry if isinstance(entry, dict) else {}
    people = told.get(":submitters")
    ids = [_id(one) for one in people if isinstance(one, dict)] if isinstance(people, list) else []
    return Exported(tuple(filter(None, ids)), _utc(str(told.get(":created_at"))))


def _utc(text: str) -> str:
    """A time as Ruby writes it, `2026-04-26 17:34:00.861687000 Z`, as nbgrader reads it; empty if it is none."""
    found = _TIME.fullmatch(text)
    try:
        return f"{datetime.fromisoformat(found[1] + found[2]).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if found else ""
    except ValueError:
        return ""


def _id(person: dict[str, Any]) -> str:
    """A name for a folder; empty if there is none that can be one, since students may enter their own."""
    name = str(person.get(":sid") or person.get(":email") or "").strip()
    return name if can_be_a_folder(name) else ""
