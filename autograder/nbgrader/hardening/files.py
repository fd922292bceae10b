"""Finds and copies files of submissions. It copies only plain ones, follows no link, and takes no id for a pattern.

A link in a hand-in may lead to the gradebook or to hidden tests, and a copy would carry that to a feedback folder.
"""

from __future__ import annotations

import errno
import fnmatch
import glob
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from nbgrader.converters.base import BaseConverter

from autograder.text import printable, shown_name

_init_notebooks = BaseConverter.init_notebooks
BLOCK = 2**20  # bytes that are copied at a time
MAX_EXTRA = 100 * 2**20  # bytes of a file beside the notebook that is copied along
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"  # nbgrader's own, beside a submission
MAX_TIMESTAMP = 2**12  # bytes; a time has 30, a secret 128


def is_plain(path: Path) -> bool:
    """True for a plain file; False for a link, a pipe or a folder."""
    return not os.path.islink(path) and os.path.isfile(path)


def copy_plain_files(
    source: Path, target: Path, most: int, wanted: Callable[[Path, bool], bool] = lambda place, is_folder: True
) -> list[str]:
    """Copy the plain files of a folder and below. Existing files are replaced.

    most: bytes of a file; a larger one is not copied
    wanted: whether to copy what has this place below `source`; the second argument is True for a folder
    Returns a sentence for each wanted file that was not copied: `x.html is a link`.
    Raises `OSError` if `source` is no folder or cannot be read, or if `target` cannot be written.
    """
    if source.is_symlink():
        raise OSError(errno.ELOOP, "it is a link", str(source))
    if not source.is_dir():
        raise OSError(errno.ENOTDIR, "it is not a folder", str(source))
    skipped: list[str] = []

    def on_error(error: OSError) -> None:
        if error.filename is None or Path(str(error.filename)) == source:
            raise error
        skipped.append(f"{error.filename} cannot be read: {error.strerror}")

    # Folders and files are opened relative to the folder above, so that nobody can replace one by a link meanwhile.
    for place, folders, names, descriptor in os.fwalk(source, onerror=on_error):
        below = Path(place).relative_to(source)
        links = [name for name in folders if _is_link(name, descriptor)]
        folders[:] = sorted(name for name in folders if name not in links and wanted(below / name, True))
        for name in sorted([*links, *names]):
            reason = _copy(name, descriptor, target / below / name, most) if wanted(below / name, False) else ""
            if reason:
                skipped.append(f"{below / name} {reason}")
    return skipped


def _is_link(name: str, descriptor: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)


def _copy(name: str, descriptor: int, target: Path, most: int) -> str:
    """Copy one file of an open folder. Returns why it was not copied: it is not plain, or too large."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        opened = os.open(name, flags, dir_fd=descriptor)
    except OSError as error:
        return "is a link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return "is not a file"
        if status.st_size > most:
            return f"has {status.st_size / 2**20:.1f} MB; the limit is {most // 2**20}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        with target.open("xb") as copy:
            copy.writelines(blocks(file, status.st_size))
    return ""


def blocks(file: IO[bytes], most: int) -> Iterator[bytes]:
    """The first `most` bytes of a file, a block at a time. Bytes that were appended since are left out."""
    while most > 0 and (block := file.read(min(BLOCK, most))):
        most -= len(block)
        yield block


class PlainFiles(BaseConverter):
    """Copies the plain files beside a notebook. `notices` lists the rest."""

    notices: list[str]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copy files of a submission to where its notebook will go."""
        ignored = [*self.coursedir.ignore, "*.ipynb"]
        source, target = (Path(place(assignment_id, student_id)) for place in (self._format_source, self._format_dest))
        skipped = copy_plain_files(
            source,
            target,
            MAX_EXTRA,
            lambda place, _: not any(fnmatch.fnmatch(place.name, pattern) for pattern in ignored),
        )
        for sentence in skipped:
            self.notices.append(
                f"{shown_name(student_id)}, {assignment_id}: {printable(sentence)}, so it was not copied"
            )


def convert_student(converter: BaseConverter, assignment: str, student: str, convert: Callable[[str], None]) -> None:
    """nbgrader's own steps for the notebooks of one student. convert: does the step for one notebook"""
    converter.run_pre_convert_hook()
    converter.init_assignment(assignment, student)
    for notebook in converter.notebooks:
        convert(notebook)
    converter.set_permissions(assignment, student)
    converter.run_post_convert_hook()


def remove_tree(folder: Path | str) -> None:
    """Remove a folder with read-only files in it, if it is there. Raises `OSError`, also if it is a link."""
    if os.path.islink(folder):
        raise OSError(errno.ELOOP, "it is a link", str(folder))
    if os.path.lexists(folder):
        shutil.rmtree(folder)


def folders_of(coursedir: Any, step: str, student: str, assignment: str, include_hidden: bool = False) -> list[str]:
    """The folders of an assignment in one of nbgrader's directories, such as `submitted`.

    nbgrader takes all parts of their path for patterns, and a student may be called `Jane Doe [ext]`.

    student: an id; if there is no such folder, a pattern of ids, such as `*` for all
    assignment: a name, or `*` for all
    """
    exact = coursedir.format_path(step, student, assignment)
    if "*" not in (student, assignment) and os.path.lexists(exact):
        return [exact]
    name = assignment if assignment == "*" else glob.escape(assignment)
    names = {"nbgrader_step": glob.escape(step), "student_id": student, "assignment_id": name}
    pattern = os.path.join(glob.escape(coursedir.root), coursedir.directory_structure.format(**names))
    return sorted(glob.glob(pattern, include_hidden=include_hidden))


def source_assignments(self: Any) -> set[str]:
    """nbgrader's own for formgrader's list; see `folders_of`."""
    folders = folders_of(self.coursedir, self.coursedir.source_directory, ".", "*")
    return {os.path.basename(folder) for folder in folders if os.path.isdir(folder)}


def submitted_students(self: Any, assignment_id: str) -> set[str]:
    """nbgrader's own for formgrader's list; see `folders_of`."""
    folders = folders_of(self.coursedir, self.coursedir.submitted_directory, "*", assignment_id)
    return {Path(folder).parent.name for folder in folders if os.path.isdir(folder)}


def digest_of(path: Path) -> str:
    """A digest of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def notebooks_in(folder: str, name: str = "*") -> list[str]:
    """The notebooks in a folder. name: without the suffix, a pattern"""
    return sorted(glob.glob(os.path.join(glob.escape(folder), f"{name}.ipynb")))


def init_notebooks(self: BaseConverter) -> None:
    """nbgrader's own, but neither the id of a student who is there nor the course's path is a pattern."""
    self.notebooks, coursedir = [], self.coursedir
    folders = folders_of(coursedir, self._input_directory, coursedir.student_id, coursedir.assignment_id)
    found = {folder: notebooks_in(folder, coursedir.notebook_id) for folder in folders}
    self.assignments = {folder: notebooks for folder, notebooks in found.items() if notebooks}
    if not self.assignments:
        _init_notebooks(self)  # raises an error that says what it looked for, and what there is
