"""Whose a handed-in file is, by the names that a learning-management system wrote: what all its collectors share.

Only the outermost name counts, which the system itself wrote. What is inside a hand-in has names that a student chose.
"""

from __future__ import annotations

import csv
import functools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Unicode, default

from autograder.discovery import name_problem
from autograder.errors import AutograderError, SubmissionError
from autograder.text import printable, shown_name

# "-1" and so on is what a system appends to a file that is handed in again, " (1)" what a browser does.
# Beside a notebook there may be a saved model. Of that a browser's copy stays another file.
NOTEBOOK = re.compile(r"(?P<file_id>.+?)(?:(?:-\d+| ?\(\d+\))?\.ipynb|(?:-\d+)?\.safetensors)")

ARCHIVES = (".zip", ".gz", ".tar", ".tgz", ".7z", ".rar")  # what students pack their work into
METADATA = "submission_metadata.yml"  # at the root of what Gradescope exports; it is nobody's
GROUPS = "groups.csv"  # beside archive/: the columns group and student, a line for each member
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
    attempt: of two files of one name that with the larger one is newer; 0 if the system does not number them
    for_each: is it collected for the others, too?
    """

    student: str
    number: str
    written: str
    stem: str
    rest: str
    when: str = ""
    others: tuple[str, ...] = ()
    problem: str = ""
    attempt: int = 0
    for_each: bool = False


@dataclass
class SortedOut:
    """Files that are collected, by place, each with its owner; and a sentence for whatever was left.

    older: earlier attempts, in whose place a newer one is collected
    """

    taken: dict[Path, Owner] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)


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
        for path, owner in self.owners():
            if owner is not None:
                owned[owner.student or owner.written].append((path, owner))
            elif path.name.lower().endswith(ARCHIVES):
                found.left.append(f"{printable(str(path))} {_NOT_OPENED}")
            elif not any(part.startswith((".", "__MACOSX")) for part in path.parts) and path.name != METADATA:
                found.left.append(f"{printable(str(path))}: no name of {self.system}'s says whose it is")
        for files in owned.values():
            try:
                taken = self._taken_of(files, found.older)
            except SubmissionError as error:
                found.left.append(str(error))
            else:
                found.taken |= {Path(self.extracted, path): owner for path, owner in taken.items()}
                self._tell_of_group(files[0][1])
        return found

    def owners(self) -> list[tuple[Path, Owner | None]]:
        """Each file with its owner; groups that somebody has named go to all their members."""
        found = [(path, self.owner(path)) for path in _plain_files(Path(self.extracted))]
        members = read_groups(Path(self.extracted).parent / GROUPS)
        twice = {one for one, count in Counter(one for of in members.values() for one in of).items() if count > 1}
        return [(path, owner and self._of_group(owner, members, twice)) for path, owner in found]

    def _of_group(self, owner: Owner, members: Mapping[str, Sequence[str]], twice: Collection[str]) -> Owner:
        their = tuple(members.get(self.group_of(owner).casefold(), ()))
        if their:
            for one in their:
                if one in twice:
                    return replace(owner, problem=f"{shown_name(one)} is in two groups of {GROUPS}; leave one")
                if not can_be_a_folder(one):
                    return replace(owner, problem=f"'{shown_name(one)}' of {GROUPS} cannot be a folder's name")
            return replace(owner, student=their[0], others=their[1:], for_each=True)
        return replace(owner, problem=owner.problem or self.why_no_student(owner, bool(members)))

    def group_of(self, owner: Owner) -> str:
        """The name that a group of students would have."""
        return owner.student

    def why_no_student(self, owner: Owner, has_groups: bool) -> str:
        """Why a name is no student's; empty if it may be one."""
        return ""

    def _taken_of(self, files: Sequence[tuple[Path, Owner]], older: list[str]) -> dict[Path, Owner]:
        """What is collected of one student's files. Raises `SubmissionError` with a whole sentence if nothing is."""
        owner = files[0][1]
        files = [(path, one) for path, one in files if not one.problem]
        if not files:
            raise SubmissionError(f"{printable(owner.written)}: {owner.problem}")
        owner, student = files[0][1], shown_name(owner.student)
        if not can_be_a_folder(owner.student):
            raise SubmissionError(f"{printable(owner.written)}: '{student}' cannot be a folder's name")
        if len({one.number for _, one in files}) > 1:
            both = " and ".join(sorted({printable(one.written) for _, one in files}))
            raise SubmissionError(f"{both}: the same student '{student}', so neither is collected; {self.apart}")
        by_name = defaultdict[str, list[tuple[Path, Owner]]](list)
        for path, one in files:
            if _file_id(one):
                by_name[collected_as(one)].append((path, one))
        taken = dict(self._newest(same, name, older) for name, same in by_name.items())
        if not any(path.suffix == ".ipynb" for path in taken):
            raise SubmissionError(_no_notebook(student, [one.rest for _, one in files]))
        return taken

    def _newest(self, same: Sequence[tuple[Path, Owner]], name: str, older: list[str]) -> tuple[Path, Owner]:
        """Of a student's files that would have one name the outermost, and of those the newest.

        Raises `SubmissionError` if nothing tells two apart.
        """
        depth = min(one.rest.count("/") for _, one in same)
        found = [(path, one) for path, one in same if one.rest.count("/") == depth]
        ages = [(one.attempt, Path(self.extracted, path).stat().st_mtime_ns) for path, one in found]
        if ages.count(max(ages)) > 1:
            both, student = " and ".join(printable(str(path)) for path, _ in found), shown_name(found[0][1].student)
            text = f"{student}: {both} would both be {printable(name)}, so neither is collected; {self.apart}"
            raise SubmissionError(text)
        newest = found.pop(ages.index(max(ages)))
        older += [f"{printable(str(path))} is an earlier attempt than {printable(newest[0].name)}" for path, _ in found]
        return newest

    def _tell_of_group(self, owner: Owner) -> None:
        if owner.others and not owner.for_each:
            told = (owner.written, shown_name(owner.student), ", ".join(map(shown_name, owner.others)))
            self.log.warning("%s is collected for %s; it is also of %s", *told)

    def owner(self, path: Path) -> Owner | None:
        """Whose a file is by the outermost of the system's names; None if it has none. `path` is below `extracted`."""
        raise NotImplementedError


def read_groups(path: Path) -> dict[str, list[str]]:
    """Members by the group's name in small letters; empty if there is no such file. Raises `AutograderError`."""
    if not path.is_file():
        return {}
    found = defaultdict[str, list[str]](list)
    try:
        rows = csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines())
        for row in rows:
            found[row["group"].strip().casefold()].append(row["student"].strip())
    except (KeyError, AttributeError, UnicodeDecodeError, csv.Error):
        raise AutograderError(f"{path}: a CSV file with the columns group and student is needed") from None
    return dict(found)


def _plain_files(folder: Path) -> Iterator[Path]:
    """Plain files in a folder and below, by their place in it."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        found = (Path(place, name) for name in sorted(names))
        yield from (path.relative_to(folder) for path in found if path.is_file() and not path.is_symlink())


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
