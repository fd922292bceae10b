"""Finds the notebook to grade in a student's folder of an assignment, and what else there may hold work."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.course.assignments import Assignment
from autograder.course.source_notebook import digests_of, exercise_name, text_digest
from autograder.errors import CourseError, SubmissionError
from autograder.reading import read_bytes
from autograder.submission import (
    MAX_BYTES,
    MAX_PYTHON_BYTES,
    Cells,
    FileBeside,
    Holds,
    Submission,
    notebook_of,
    python_beside,
    python_in,
    read_notebook,
    stamp_with,
)
from autograder.text import printable, shown_name

# formgrader writes a student's id into its pages unescaped: between tags, in attributes, in scripts.
ACTS = re.compile(r'[<>"\\\x00-\x1f\x7f]')
ENDS_LINES = ("Cc", "Cs", "Zl", "Zp")  # Unicode categories that break a line, a terminal or a text file
_DEFINED = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)
# Of a submission's notebooks with other names, that are searched for the assignment's cells.
MAX_NOTEBOOKS, MAX_NOTEBOOK_BYTES = 20, 40 * 2**20
SHOWN = 5  # names of files in a sentence
MAX_FILES = 1000  # of a submission, that are looked at
ARCHIVES = (".zip", ".gz", ".tar", ".tgz", ".7z", ".rar")  # what students pack their work into
# Files that may hold answers, such as code, a text or a photo of a page.
_DOCUMENTS = {".ipynb", ".py", ".txt", ".md", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".html", ".tex", ".png", ".jpg",
              ".jpeg", ".heic", *ARCHIVES}  # fmt: skip
_CHECKPOINTS = ".ipynb_checkpoints"  # where JupyterLab keeps an earlier state of a notebook
_NBGRADERS = {"timestamp.txt", "submission_secret.txt", "DUE.txt"}


def submission_at(path: Path, name: str, assignment: Assignment | None) -> Submission:
    """The submission in a notebook that a person has named. Of a student's folder, no other notebook is graded.

    name: the assignment's; assignment: None if that is broken
    """
    folder = Path(os.path.abspath(path)).parent  # resolves `..` but no links
    if folder.name != name:
        problem = _of_another(path.name, _cells_at(path), assignment) if assignment else ""
        return Submission(student_id(path.stem), name, path, problem or None, python=python_beside(path))
    submission = Submission(student_id(folder.parent.name), name, folder / path.name, folder=folder)
    return _with_files(submission, assignment, is_named=True) if assignment else submission


def submission_in(student: str, folder: Path, assignment: Assignment) -> Submission:
    """The submission in a student's folder of an assignment."""
    problem = name_problem(student)
    if problem is None and folder.is_symlink():
        problem = f"the folder {folder.name} is a link; put the files themselves there"
    submission = Submission(student_id(student), assignment.name, folder / assignment.notebook.name, problem, folder)
    return submission if problem else _with_files(submission, assignment)


def student_id(folder: str) -> str:
    """The id of the student whose folder has this name: the name, escaped if it is not a valid id."""
    return folder if name_problem(folder) is None else shown_name(folder)


def name_problem(student: str) -> str | None:
    """Why this folder's name is not a valid student's id; None if it is one.

    Invisible characters such as a non-breaking space, or the joiner in a Persian name, are valid.
    """
    shown = f"the folder's name '{shown_name(student)}'"
    if student.startswith("."):
        return f"{shown} begins with a dot, so nbgrader skips it; rename it"
    if any(unicodedata.category(character) in ENDS_LINES for character in student):
        return f"{shown} has a control character or half a character in it; rename it"
    if ACTS.search(student):
        return f'{shown} has one of < > " \\ in it, which formgrader would act on; rename it'
    return None


def closed_folders(submitted: Path) -> Iterator[tuple[str, str]]:
    """Students whose folder cannot be read, each with the reason. Raises `OSError` if `submitted` cannot be read."""
    for student in sorted(submitted.iterdir()) if submitted.is_dir() else ():
        try:
            if student.is_dir():
                _names_in(student)
        except OSError as error:
            yield student.name, _unreadable(student, error)


def _with_files(submission: Submission, assignment: Assignment, is_named: bool = False) -> Submission:
    """The submission with the notebook of its folder that has the work, and with the files beside it; or the problem.

    Other names and places count, too, if a notebook has the assignment's cells: a browser names a second download
    `first (1).ipynb`, JupyterLab a copy `first-Copy1.ipynb`. If only one has work in it, it is that one.

    is_named: whether a person has named the notebook, so that no other is graded
    """
    path, folder, python = submission.path, submission.path.parent, functools.cache(python_in)
    try:
        entries = _names_in(folder)
    except OSError as error:
        return replace(submission, problem=_unreadable(folder, error))
    files, found, read = _files_in(folder), dict[Path, Submission](), dict[Path, Cells]()
    own = [path] if is_named or path.name in entries else []
    for one in own + _within_limits({file: size for file, size in files.items() if file != path}):
        found[one], read[one] = _look_at(replace(submission, path=one, python=python(one.parent)))
    path, problem = _choice(path, {path: read[path]} if is_named else read, entries, assignment)
    if problem:
        return replace(submission, path=path, problem=problem)
    stamps = {file: found[file].stamp if file in found else str(size) for file, size in files.items()}
    words = "\n".join(f"{file.relative_to(folder)} {digest}" for file, digest in stamps.items())
    beside = []
    for file in (file for file in files if file != path):
        holds = _holds(file, folder, read, read[path], assignment)
        cells = read[file] if holds in ("cells", "work") else ()
        beside.append(FileBeside(file.relative_to(folder), stamps[file], holds, cells))
    return replace(found[path], beside=tuple(beside), files_stamp=stamp_with(replace(submission, problem=words), b""))


def _within_limits(sizes: Mapping[Path, int]) -> list[Path]:
    """The notebooks among these files that are read."""
    found, left = list[Path](), MAX_NOTEBOOK_BYTES
    for path, size in sizes.items():
        if path.suffix == ".ipynb" and len(found) < MAX_NOTEBOOKS and size <= left:
            found.append(path)
            left -= size
    return found


def _look_at(submission: Submission) -> tuple[Submission, Cells]:
    """The submission with its stamp, and the cells of its notebook, which is read once; none if it cannot be read."""
    content, cells, words = None, Cells(), list[str]()
    try:
        content = read_bytes(submission.path, MAX_BYTES, "")
        cells = notebook_of(content, submission.path.name).cells
    except SubmissionError as error:
        words += [str(error)] if content is None else []
    return replace(submission, stamp=stamp_with(submission, content, *words)), cells


def _choice(
    named: Path, read: Mapping[Path, Cells], entries: Sequence[str], assignment: Assignment
) -> tuple[Path, str]:
    """The notebook to grade, and the problem if there is none. named: the one of the right name"""
    found = [path for path, cells in read.items() if path != named and _has_cells_of(cells, assignment)]
    released = assignment.released_digests if found else frozenset()
    wrong = _of_another(named.name, read[named], assignment) if named in read else ""
    if named in read and not wrong:
        found.insert(0, named)
    worked = [path for path in found if released and _has_work(read[path], released)]
    if worked and all(read[path] == read[worked[0]] for path in worked):
        return worked[0], ""
    if found and (found[0] == named or len(found) == 1):
        return found[0], ""
    if found:
        names = _listed([path.relative_to(named.parent) for path in found], MAX_NOTEBOOKS)
        return named, f"no {named.name}, and more than one notebook with its cells: {names}. Leave one of them"
    if wrong:
        return named, wrong
    holds = f"the folder holds {', '.join(map(printable, entries[:SHOWN]))}" if entries else "the folder is empty"
    return named, f"no {named.name}: {holds}"


def _holds(path: Path, folder: Path, read: Mapping[Path, Cells], own: Cells, assignment: Assignment) -> Holds:
    """What a file beside the graded notebook holds. own: the graded notebook's cells"""
    if path.suffix == ".ipynb" and path not in read:
        return "unread"
    cells = read.get(path)
    if not cells or not _has_cells_of(cells, assignment):
        return "nothing" if (assignment.released.parent / path.relative_to(folder)).exists() else "unknown"
    if cells == own:
        return "nothing"
    return "work" if _has_work(cells, assignment.released_digests) else "cells"


def _files_in(folder: Path) -> dict[Path, int]:
    """Plain files in a folder and below that may hold answers, without hidden ones, and their sizes.

    The outermost come first. Of too many there is one more than the limit.
    """
    found = dict[Path, int]()
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(place, name) for name in names if name not in _NBGRADERS and not name.startswith("."))
        for path in (path for path in paths if path.suffix.lower() in _DOCUMENTS):
            with contextlib.suppress(OSError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    found[path] = status.st_size
        if len(found) > MAX_FILES:
            break
    outermost = sorted(itertools.islice(found, MAX_FILES + 1), key=lambda path: (len(path.parts), path))
    return {path: found[path] for path in outermost}


def notices(submission: Submission, assignment: Assignment, cells: Cells) -> tuple[str, ...]:
    """Sentences on what was handed in that a person should look at, without a full stop.

    cells: of the notebook, with the kinds that the course gave them
    """
    missing = _missing(cells, assignment)
    found = [_notice_of_others(submission, assignment, missing), _notice_of_text(cells, assignment, missing)]
    if (_named(cells) | _defined(cells)).isdisjoint(exercise.name for exercise in assignment.exercises):
        found.append(f"{printable(submission.path.name)} has no cell of an exercise, and defines none of them")
    if left_out := submission.python.left_out:
        found.append(f"not all Python files beside the notebook could be used: {'; '.join(left_out[:SHOWN])}")
    if unread := [file.place for file in submission.beside if file.holds == "unread"]:
        most = f"{MAX_NOTEBOOKS} notebooks with {MAX_NOTEBOOK_BYTES >> 20} MB together"
        beside = f"beside {printable(submission.path.name)} only {most} are looked at"
        found.append(f"{beside}; the rest ({len(unread)}): {_listed(unread)}")
    if len(submission.beside) >= MAX_FILES:
        found.append(f"the folder has more than {MAX_FILES:,} files, and the others were not looked at")
    return tuple(filter(None, found))


def _listed(places: Sequence[Path], most: int = SHOWN) -> str:
    return ", ".join(printable(str(place)) for place in places[:most]) + (", ..." if len(places) > most else "")


def _notice_of_others(submission: Submission, assignment: Assignment, missing: Collection[str]) -> str:
    """A sentence on further files that may hold work beside the notebook that is graded; empty if there is none.

    missing: the exercises that the graded notebook has nothing for
    """
    folder, beside = submission.folder, submission.beside
    if folder is None:
        return ""
    start = f"{_listed([submission.path.relative_to(folder)])} was graded; "
    if worked := [file.place for file in beside if file.holds == "work"]:
        advice = "If that is the one to grade, give it the first one's name"
        return f"{start}the folder also has {_listed(worked, MAX_NOTEBOOKS)} with other work in it. {advice}"
    files = [file.place for file in beside if file.holds in ("unread", "unknown")]
    if len(missing) == len(assignment.exercises):
        files += [path.relative_to(folder) for path in _in_checkpoints(submission.path.parent, assignment)]
    else:
        files = [place for place in files if place.suffix == ".py" and _may_define(missing, folder / place, submission)]
    if missing and files:
        return f"{start}it has nothing for {', '.join(missing)}, but the folder also has {_listed(files)}"
    empty = [file.place for file in beside if file.holds == "cells"]
    has, it = ("has", "it") if len(empty) == 1 else ("have", "them")
    return f"{start}{_listed(empty, MAX_NOTEBOOKS)} beside it {has} no work in {it}" if empty else ""


def _in_checkpoints(folder: Path, assignment: Assignment) -> list[Path]:
    """Earlier states of notebooks that may have work in them: those that have, and those beyond the limits."""
    checkpoints, released = folder / _CHECKPOINTS, assignment.released_digests
    files = {} if checkpoints.is_symlink() else _files_in(checkpoints)
    read = _within_limits(files)
    notebooks = (path for path in files if path.suffix == ".ipynb")
    return [path for path in notebooks if path not in read or _has_work(_cells_at(path), released)]


def _may_define(names: Collection[str], path: Path, submission: Submission) -> bool:
    """True if a Python file defines one of the names, or is too large to look at."""
    code = dict(submission.python.files).get(os.path.relpath(path, submission.path.parent))
    try:
        code = read_bytes(path, MAX_PYTHON_BYTES, "") if code is None else code
    except SubmissionError:
        return True
    return not set(names).isdisjoint(_DEFINED.findall(code.decode(errors="replace")))


def _notice_of_text(cells: Cells, assignment: Assignment, missing: Collection[str]) -> str:
    """A sentence on exercises that only text cells define, which do not run; empty if there is none."""
    released = assignment.released_digests
    found = {
        name: number
        for number, cell in enumerate(cells, 1)
        if cell.cell_type != "code" and text_digest(cell.source) not in released
        for name in _DEFINED.findall(cell.source)
        if name in missing
    }
    places = ", ".join(f"{name} in cell {number}" for name, number in found.items())
    return f"only text cells, which do not run, define {places}" if places else ""


def _missing(cells: Cells, assignment: Assignment) -> list[str]:
    """The exercises that a notebook has nothing for: all code cells that could hold them are as released."""
    known = {*assignment.released_digests, *as_handed_out(cells)}
    worked = [cell for cell in cells if cell.cell_type == "code" and text_digest(cell.source) not in known]
    names = {name for cell in worked for name in (cell.grade_id, *_DEFINED.findall(cell.source))}
    return [exercise.name for exercise in assignment.exercises if exercise.name not in names]


def as_handed_out(cells: Cells) -> set[str]:
    """Digests of the cells that are as this student got them, by nbgrader's checksums. The course may have changed."""
    return digests_of((cell.cell_type, cell.grade_id, cell.source) for cell in cells if cell.untouched)


def _has_work(cells: Cells, released: Collection[str]) -> bool:
    """True if a cell is as in no release. Cells above all that are released or named may install the course."""
    known = {*released, *as_handed_out(cells)}
    is_released = [text_digest(cell.source) in known for cell in cells]
    course = [bool(cell.grade_id) or same for cell, same in zip(cells, is_released, strict=True)]
    start = course.index(True) if True in course else 0
    return not all(is_released[start:])


def without_work(notebooks: Iterable[Path], assignment: Assignment) -> list[Path]:
    """Those that are as students got them, beside one with work in it; empty if there is none."""
    released, worked = assignment.released_digests, dict[Path, bool]()
    for path in notebooks:
        with contextlib.suppress(SubmissionError):
            worked[path] = bool(released) and _has_work(read_notebook(path).cells, released)
    return [path for path, has_work in worked.items() if not has_work] if any(worked.values()) else []


def _cells_at(path: Path) -> Cells:
    """The cells of a notebook; none if it cannot be read."""
    try:
        return read_notebook(path).cells
    except SubmissionError:
        return ()


def _of_another(name: str, cells: Cells, assignment: Assignment) -> str:
    """Why a notebook is not this assignment's, if it has no exercise of it and all exercises of another; else empty."""
    found = _exercises_in(cells)
    with contextlib.suppress(CourseError):  # reported when the assignment is graded
        if _has_cells_of(cells, assignment):
            return ""
        for other in assignment.course.assignments.values():
            names = {exercise.name for exercise in other.exercises}
            if names and names <= found:
                cells_of = f"the cells of {other.name}, and none of {assignment.name}"
                return f"{printable(name)} has {cells_of}. Was the wrong file handed in?"
    return ""


def _has_cells_of(cells: Cells, assignment: Assignment) -> bool:
    """True if there is a cell of one of the assignment's exercises."""
    return not _exercises_in(cells).isdisjoint(exercise.name for exercise in assignment.exercises)


def _exercises_in(cells: Cells) -> set[str]:
    """Names of exercises by the cells of a notebook, and other names.

    Where no cell has a name of nbgrader's any more, what code cells define counts.
    """
    return _named(cells) or _defined(cells)


def _named(cells: Cells) -> set[str]:
    return {exercise_name(cell.grade_id) for cell in cells if cell.grade_id}


def _defined(cells: Cells) -> set[str]:
    return {name for cell in cells if cell.cell_type == "code" for name in _DEFINED.findall(cell.source)}


def _names_in(folder: Path) -> list[str]:
    """The names in a folder, sorted. Raises `OSError` if it cannot be listed, or what is in it cannot be reached."""
    return sorted(os.listdir(os.path.join(folder, ".")))


def _unreadable(folder: Path, error: OSError) -> str:
    """Why a folder cannot be listed."""
    return f"the folder {printable(folder.name)} cannot be read: {error.strerror}"
