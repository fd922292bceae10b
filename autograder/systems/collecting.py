"""Whose a handed-in file is, by the names that a learning-management system wrote: what all systems share.

Only the outermost name counts, because the system wrote it. Names inside a hand-in were chosen by a student.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbgrader.plugins import FileNameCollectorPlugin
from sqlalchemy.exc import SQLAlchemyError
from traitlets import Unicode, default

from autograder.course.assignments import Assignment, course_at
from autograder.discovery import ARCHIVES, name_problem, submission_in, without_work
from autograder.errors import AutograderError, SubmissionError, in_words
from autograder.nbgrader.gradebook_rows import class_list
from autograder.nbgrader.hardening.files import folders_of, is_plain, remove_tree
from autograder.reports.roster import read_table
from autograder.submission import why_unreadable
from autograder.text import composed, in_shell, printable, shown_name, squeezed

# A system appends "-1" and so on to a file that is handed in again, a browser " (1)".
NOTEBOOK = re.compile(r"(?P<file_id>.+?)(?:-\d+| ?\(\d+\))?\.ipynb")
MODULE = re.compile(r"(?P<module>[^\W\d]\w*)(?:-\d+| ?\(\d+\))?\.py")  # no other name can be imported

METADATA = "submission_metadata.yml"  # at the root of what Gradescope exports; it belongs to nobody
GROUPS = "groups.csv"  # beside archive/: the columns group and student, a line for each member
_GROUPS_FORM = "its first line should be: group,student"
SHOWN = 3  # names of files in a sentence
_WAS_GROUP = (
    f"removed {{folder}}, which an earlier collect had made: {{group}} is now a group in {GROUPS}. If it was graded, "
    "remove it from the gradebook: {command}"
)
_NOT_IN_DOWNLOAD = (
    "submitted/ also has work by these students, who are not in this download; remove what should not be graded"
)
_EARLIER = (
    "submitted/ still has earlier work by these students, of whom nothing is collected now; the lines below say why"
)
_NOT_IN_CLASS = "the roster in the gradebook has nobody with these ids; correct wrong names in archive/, or the roster"
_NO_SUCH_GROUP = f"{GROUPS} has these groups, but nothing was collected for them"
_BESIDE = "handed in beside a notebook and not collected; look at them in downloaded/"
_NOT_OPENED = "is not opened; if it is what the system gave you, put it into archive/ itself, as a .zip"


@dataclass(frozen=True)
class Owner:
    """The owner of a file.

    student: the id, a folder's name; empty if the system names nobody
    number: the submission's or the user's number in the system
    label: the name that the system wrote, as a teacher finds it in the download
    stem: the beginning of the name that a feedback page needs for the way back
    rest: the file's own name, with the folders that a student put it in
    when: the time of handing in; empty if the system does not say
    others: who else has handed it in; if the name does not say who has, all who may have
    problem: why nothing of this owner's is collected
    attempt: of two files of one name the one with the larger number is newer; 0 if the system does not number them
    group: the id that a group would have as a student; what it handed in is collected for the others, too
    """

    student: str
    number: str
    label: str
    stem: str
    rest: str
    when: str = ""
    others: tuple[str, ...] = ()
    problem: str = ""
    attempt: int = 0
    group: str = ""

    @property
    def students(self) -> tuple[str, ...]:
        """All students for whom it is collected: the members of a group, else the owner."""
        return (self.student, *self.others) if self.group else (self.student,)


OwnedFiles = Sequence[tuple[Path, Owner]]
Handed = dict[str, Owner]  # by student


@dataclass
class SortedOut:
    """Files that are collected, each with its owner, and a sentence for each that is not.

    older: earlier attempts, of which a newer one is collected
    beside: other files that were handed in beside a notebook
    seen: all students in the download, with those of whom nothing is collected
    """

    taken: dict[Path, Owner] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    @property
    def students(self) -> set[str]:
        """All for whom something is collected."""
        return {student for owner in self.taken.values() for student in owner.students}


class Collector(FileNameCollectorPlugin):
    """Collects by a system's names. All files are sorted out before the first is collected: one may exclude another.

    title: what people call the system
    apart: what a teacher does if two files or two students cannot be told apart
    """

    title = ""
    apart = "unpack the zip into archive/ in its place, rename or remove one of them there, and collect again"
    extracted = Unicode(help="the folder with what was unpacked, below which the system's names begin")

    @functools.cached_property
    def assignment(self) -> Assignment:
        """What is collected."""
        coursedir = self.parent.coursedir
        return course_at(Path(coursedir.root)).assignment(coursedir.assignment_id)

    @functools.cached_property
    def roster(self) -> set[str]:
        """The ids of the class; empty if the gradebook has no roster, or cannot be read."""
        try:
            return class_list(self.parent.coursedir)
        except SQLAlchemyError:
            self.log.warning("The gradebook cannot be read, so ids are not compared with a roster")
            return set()

    @default("extracted")
    def _extracted_default(self) -> str:
        return str(self.parent._format_collect_path(self.parent.extracted_directory))

    def owner(self, path: Path) -> Owner | None:
        """The owner by the outermost of the system's names; None if there is none. `path` is below `extracted`."""
        raise NotImplementedError

    def group_of(self, student: str) -> str:
        """The name of the group whose id this would be."""
        return student

    def why_no_student(self, owner: Owner) -> str:
        """Why a name is not a student's; empty if it may be one."""
        return ""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """The student and the notebook, or None if the file is not collected."""
        owner = self.sorted_out.taken.get(Path(submitted_file))
        if owner is None:
            return None
        found = {"student_id": owner.student, "file_id": _file_id(owner) or owner.rest.removesuffix(".py")}
        return found | ({"timestamp": owner.when} if owner.when else {})

    @property
    def left(self) -> list[str]:
        """A sentence for each student, and for each notebook, that is not collected."""
        return self.sorted_out.left

    @functools.cached_property
    def sorted_out(self) -> SortedOut:
        """What is collected of all that was unpacked, and what is not."""
        found, by_owner = SortedOut(), defaultdict[str, list[tuple[Path, Owner]]](list)
        root = Path(self.extracted)
        for path in (file.relative_to(root) for file in sorted(root.rglob("*")) if is_plain(file)):
            if "__MACOSX" in path.parts or path.name.startswith("._"):  # what macOS packs beside each file
                continue
            if owner := self.owner(path):
                owner = replace(owner, student=composed(owner.student), rest=composed(owner.rest))
                owner = self._with_members(owner)
                by_owner[owner.student or owner.label].append((path, owner))
                found.seen.update((owner.student, *owner.others))
            elif path.name.lower().endswith(ARCHIVES):
                found.left.append(f"{printable(str(path))} {_NOT_OPENED}")
            elif not any(part.startswith(".") for part in path.parts) and path.name != METADATA:
                found.left.append(
                    f"{printable(str(path))}: its name does not say whose it is, as {self.title}'s names do"
                )
        for files in by_owner.values():
            try:
                taken = self._taken_of(files, found.older)
            except SubmissionError as error:
                found.left.append(str(error))
            else:
                found.taken |= {Path(self.extracted, path): owner for path, owner in taken.items()}
                found.beside += [str(path) for path, owner in files if not (_file_id(owner) or path in taken)]
                self._warn_of_group(files[0][1])
        return found

    @functools.cached_property
    def groups(self) -> dict[str, list[str]]:
        """Members by the group's name in lower case, from the file beside archive/."""
        return read_groups(Path(self.extracted).parent / GROUPS)

    def _members(self, student: str) -> Sequence[str]:
        """The members of the group whose id this would be; empty if it is none."""
        return self.groups.get(_group_key(self.group_of(student)), ())

    def _with_members(self, owner: Owner) -> Owner:
        """The owner; if it is a group, its members own the file."""
        members = self._members(owner.student)
        if not members:
            return replace(owner, problem=owner.problem or self.why_no_student(owner))
        return replace(owner, student=members[0], others=tuple(members[1:]), group=owner.student)

    def _taken_of(self, files: OwnedFiles, older: list[str]) -> dict[Path, Owner]:
        """What is collected of one student's files. Raises `SubmissionError` with a whole sentence if nothing is."""
        owner = files[0][1]
        files = [(path, each) for path, each in files if not each.problem]
        if not files:
            raise SubmissionError(f"{printable(owner.label)}: {owner.problem}")
        owner, student = files[0][1], shown_name(owner.student)
        if not can_be_a_folder(owner.student):
            raise SubmissionError(f"{printable(owner.label)}: '{student}' cannot be a folder's name")
        if len({each.number for _, each in files}) > 1:
            both = " and ".join(sorted({printable(each.label) for _, each in files}))
            raise SubmissionError(f"{both}: the same student '{student}', so neither is collected; {self.apart}")
        by_name = defaultdict[str, list[tuple[Path, Owner]]](list)
        for path, each in files:
            if _file_id(each):
                by_name[collected_as(each)].append((path, each))
        taken = dict(self._newest(same, name, older) for name, same in by_name.items())
        if not taken:
            raise SubmissionError(_no_notebook(student, [each.rest for _, each in files]))
        return taken | _modules_beside(taken.values(), files)

    def _newest(self, same: OwnedFiles, name: str, older: list[str]) -> tuple[Path, Owner]:
        """Of a student's files that would have one name, the newest among the outermost of those with work in them.

        Raises `SubmissionError` if two are equally new.
        """
        if len(same) > 1:
            empty = without_work((Path(self.extracted, path) for path, _ in same), self.assignment)
            older += [f"{printable(str(path.relative_to(self.extracted)))} has no work in it" for path in empty]
            same = [(path, owner) for path, owner in same if Path(self.extracted, path) not in empty]
        depth = min(owner.rest.count("/") for _, owner in same)
        found = [(path, owner) for path, owner in same if owner.rest.count("/") == depth]
        ages = [(owner.attempt, Path(self.extracted, path).stat().st_mtime_ns) for path, owner in found]
        if ages.count(max(ages)) > 1:
            both, student = " and ".join(printable(str(path)) for path, _ in found), shown_name(found[0][1].student)
            text = f"{student}: {both} would both be {printable(name)}, so neither is collected; {self.apart}"
            raise SubmissionError(text)
        newest = found.pop(ages.index(max(ages)))
        older += [f"{printable(str(path))} is an earlier attempt than {printable(newest[0].name)}" for path, _ in found]
        inner = [path for path, owner in same if owner.rest.count("/") > depth]
        older += [
            f"{printable(str(path))} is not collected: {printable(newest[0].name)} lies above it" for path in inner
        ]
        return newest

    def _warn_of_group(self, owner: Owner) -> None:
        if owner.others and not owner.group:
            names = (owner.label, shown_name(owner.student), ", ".join(map(shown_name, owner.others)))
            self.log.warning("%s is collected for %s; it also belongs to %s", *names)

    def finish(self) -> None:
        """Give each member of a group its work, and log whose id may be wrong. Called when everything is collected."""
        for sentence in self.sorted_out.older:
            self.log.warning("%s", sentence)
        everybody, groups = self.sorted_out.students, {one for one in self.sorted_out.taken.values() if one.group}
        for owner in groups:
            self._copy_to_members(owner)
        for group in sorted({owner.group for owner in groups} - everybody):
            self._remove_group(group)
        self._warn_of_names(everybody, {_group_key(self.group_of(owner.group)) for owner in groups})
        failed = 0
        for student in sorted(everybody):
            submission = submission_in(student, self._submitted(student), self.assignment)
            if problem := submission.problem or why_unreadable(submission.path):
                self.log.warning("%s cannot be graded: %s", shown_name(student), problem)
                failed += 1
        students = "students" if len(everybody) != 1 else "student"
        self.log.info("%d %s collected%s", len(everybody), students, f", {failed} cannot be graded" * bool(failed))

    def _remove_group(self, group: str) -> None:
        """Remove a group's folder, such as of a collect without its members; it would be graded as a student."""
        folder = self._submitted(group)
        if folder.is_dir():
            try:
                remove_tree(folder)
            except OSError as error:
                self.left.append(f"{shown_name(group)} is a group and would be graded: {in_words(error) or error}")
                return
            command = f"nbgrader db student remove {in_shell(group)} --force"
            self.log.warning("%s", _WAS_GROUP.format(folder=folder, group=shown_name(group), command=command))

    def _warn_of_names(self, everybody: set[str], groups: set[str]) -> None:
        """Log whose work a person should look at. They are students and groups for whom something is collected."""
        rules, found = self.parent.coursedir, self.sorted_out
        places = map(Path, folders_of(rules, rules.submitted_directory, "*", rules.assignment_id))
        folders = {place.parent.name for place in places}
        self._warn(_NOT_IN_DOWNLOAD, folders - everybody - found.seen)
        self._warn(_EARLIER, folders & found.seen - everybody)
        self._warn(_NOT_IN_CLASS, everybody - self.roster if self.roster else ())
        self._warn(_NO_SUCH_GROUP, self.groups.keys() - groups)
        self._warn(_BESIDE, found.beside)

    def _warn(self, sentence: str, names: Collection[str]) -> None:
        if names:
            self.log.warning("%s: %s", sentence, ", ".join(map(shown_name, sorted(names))))

    def _submitted(self, student: str) -> Path:
        coursedir = self.parent.coursedir
        return Path(coursedir.format_path(coursedir.submitted_directory, student, coursedir.assignment_id))

    def _copy_to_members(self, owner: Owner) -> None:
        """Copy what was collected for the first member of a group to the folders of the others."""
        for other in owner.others:
            try:
                remove_tree(self._submitted(other))
                shutil.copytree(self._submitted(owner.student), self._submitted(other))
            except OSError as error:
                self.left.append(f"{shown_name(other)}: {in_words(error) or error}")


def _group_key(name: str) -> str:
    """A group's name without differences of capital letters and white space."""
    return squeezed(name).casefold()


def read_groups(path: Path) -> dict[str, list[str]]:
    """Members by the group's name in lower case; empty if there is no such file. Raises `AutograderError`."""
    if not path.is_file():
        return {}
    group_of = dict[str, str]()
    for line, row in read_table(path, ("group", "student"), _GROUPS_FORM):
        student, group = row["student"], _group_key(row["group"])
        if not group or not student or ";" in student:
            raise AutograderError(f"{path}, line {line}: each line needs a group and one student")
        if not can_be_a_folder(student):
            raise AutograderError(f"{path}, line {line}: '{shown_name(student)}' cannot be a folder's name")
        if group_of.setdefault(student, group) != group:
            raise AutograderError(f"{path}, line {line}: {shown_name(student)} is in two groups; leave one")
    found = defaultdict[str, list[str]](list)
    for student, group in group_of.items():
        found[group].append(student)
    return dict(found)


def _no_notebook(student: str, names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
    packed = any(name.lower().endswith(ARCHIVES) for name in names)
    advice = "; an archive inside a submission is not opened, so ask for the notebook itself" if packed else ""
    return f"{student}: no notebook among what was handed in ({shown}){advice}"


def _file_id(owner: Owner) -> str:
    found = NOTEBOOK.fullmatch(Path(owner.rest).name)
    return found["file_id"] if found else ""


def _modules_beside(notebooks: Iterable[Owner], files: OwnedFiles) -> dict[Path, Owner]:
    """The Python files that a collected notebook can import, in their places beside it; of equal ones the newest."""
    folders, found = {Path(owner.rest).parent for owner in notebooks}, dict[str, Path]()
    owners = dict[Path, Owner]()
    for path, owner in sorted(files, key=lambda one: one[1].attempt):
        rest = Path(owner.rest)
        module = MODULE.fullmatch(rest.name)
        folder = next((folder for folder in rest.parents if folder in folders), None)
        if module and folder is not None and all(part.isidentifier() for part in rest.relative_to(folder).parts[:-1]):
            place = rest.relative_to(folder).with_name(f"{module['module']}.py").as_posix()
            found[place], owners[path] = path, replace(owner, rest=place)
    return {path: owners[path] for path in found.values()}


def collected_as(owner: Owner) -> str:
    """The name that nbgrader gives a file: it cuts a second suffix off."""
    return os.path.splitext(_file_id(owner))[0] + Path(owner.rest).suffix


def can_be_a_folder(name: str) -> bool:
    """True if a student's id, which students may have entered themselves, can be the name of a folder."""
    return bool(name) and "/" not in name and name_problem(name) is None
