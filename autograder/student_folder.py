"""Which files in a student's folder of an assignment hold the work."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.course.assignments import CHECK, Assignment, Course
from autograder.course.releases import digests_of, text_digest
from autograder.errors import CourseError, SubmissionError
from autograder.reading import read_bytes
from autograder.submission import MAX_BYTES, NotebookCell, PythonFiles, Submission, read_notebook, stamp
from autograder.text import printable

_DEFINED = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)
MAX_NOTEBOOKS = 20  # with other names, that are searched for the assignment's cells
SHOWN = 5  # names of files in a sentence
MAX_FILES = 1000  # of a submission, that are looked at
# Files that may hold answers, such as code, a text or a photo of a page.
ARCHIVES = (".zip", ".gz", ".tar", ".tgz", ".7z", ".rar")  # what students pack their work into
_DOCUMENTS = {".ipynb", ".py", ".txt", ".md", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".html", ".tex", ".png", ".jpg",
              ".jpeg", ".heic", *ARCHIVES}  # fmt: skip
_CHECKPOINTS = ".ipynb_checkpoints"  # where JupyterLab keeps an earlier state of a notebook
_NBGRADERS = {"timestamp.txt", "submission_secret.txt", "DUE.txt"}


def notebook_in(folder: Path, assignment: Assignment) -> tuple[Path, str | None]:
    """The path of an assignment's notebook in a folder, and the problem if there is none.

    Other names and places count, too, if a notebook has the assignment's cells: a browser names a second download
    `first (1).ipynb`, JupyterLab a copy `first-Copy1.ipynb`. If only one has work in it, it is that one.
    """
    path = folder / assignment.notebook.name
    try:
        entries = names_in(folder)
    except OSError as error:
        return path, unreadable(folder, error)
    found = [other for other in _notebooks(files_in(folder)) if other != path and _has_cells_of(other, assignment)]
    released = assignment.released_digests if found else frozenset()
    wrong = of_another(path, assignment) if path.name in entries else ""
    if path.name in entries and not wrong:
        found.insert(0, path)
    worked = [notebook for notebook in found if released and _has_work(notebook, released)]
    if worked and _are_equal(worked):
        return worked[0], None
    if found and (found[0] == path or len(found) == 1):
        return found[0], None
    if found:
        names = ", ".join(_shown_place(notebook, folder) for notebook in found)
        return path, f"no {path.name}, and more than one notebook with its cells: {names}. Leave one of them"
    if wrong:
        return path, wrong
    holds = f"the folder holds {', '.join(map(printable, entries[:SHOWN]))}" if entries else "the folder is empty"
    return path, f"no {path.name}: {holds}"


def files_in(folder: Path) -> list[Path]:
    """Plain files in a folder and below that may hold answers, without hidden ones; the outermost first."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(place, name) for name in names if name not in _NBGRADERS and not name.startswith("."))
        found += [path for path in paths if path.suffix.lower() in _DOCUMENTS and _is_plain(path)]
        if len(found) > MAX_FILES:
            break
    return sorted(found[:MAX_FILES], key=lambda path: (len(path.parts), path))


def _is_plain(path: Path) -> bool:
    return not os.path.islink(path) and os.path.isfile(path)


def _notebooks(files: Iterable[Path]) -> list[Path]:
    return [path for path in files if path.suffix == ".ipynb"][:MAX_NOTEBOOKS]


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks among `files_in`, of any name."""
    return _notebooks(files_in(folder))


def files_stamp(submission: Submission) -> str:
    """A digest of all files in a submission's folder: names, contents of notebooks, and sizes of the others."""
    folder = submission.folder
    if folder is None:
        return stamp(submission)
    files = files_in(folder)
    stamps = {path: stamp(replace(submission, path=path)) for path in _notebooks(files)}
    words = (f"{path.relative_to(folder)} {stamps.get(path, path.lstat().st_size)}" for path in files)
    return stamp(replace(submission, problem="\n".join(words)))


def _shown_place(path: Path, folder: Path) -> str:
    return printable(os.path.relpath(path, folder))


def other_files(submission: Submission, assignment: Assignment) -> dict[str, tuple[NotebookCell, ...]]:
    """Further files of a submission that may hold answers, by their place in its folder.

    A notebook with the assignment's cells, such as JupyterLab's `first-Copy1.ipynb`, comes with all its cells, other
    files with none. Copies of the graded notebook and files of the release are left out.
    """
    folder, path = submission.folder, submission.path
    files = [file for file in files_in(folder) if file != path] if folder else []
    if folder is None or not files:
        return {}
    own = read_notebook(path).cells
    notebooks = [file for file in _notebooks(files) if _has_cells_of(file, assignment)]
    found = {file: read_notebook(file).cells if file in notebooks else () for file in files}
    return {
        str(file.relative_to(folder)): cells
        for file, cells in found.items()
        if (cells != own if cells else not (assignment.released.parent / file.relative_to(folder)).exists())
    }


def notices(
    submission: Submission, assignment: Assignment, cells: Sequence[NotebookCell], python: PythonFiles
) -> tuple[str, ...]:
    """Sentences on what was handed in that a person should look at, without a full stop.

    cells: of the notebook, with the kinds that the course gave them
    """
    found = [notice_of_others(submission, assignment), _notice_of_text(cells, assignment)]
    if (_named(cells) | _defined(cells)).isdisjoint(exercise.name for exercise in assignment.exercises):
        found.append(f"{printable(submission.path.name)} has no cell of an exercise, and defines none of them")
    if python.left_out:
        found.append(f"not all Python files beside the notebook could be used: {'; '.join(python.left_out[:SHOWN])}")
    return tuple(filter(None, found))


def notice_of_others(submission: Submission, assignment: Assignment) -> str:
    """A sentence on further files that may hold work beside the notebook that is graded; empty if there is none."""
    try:
        others = other_files(submission, assignment)
    except (OSError, SubmissionError):  # the reader of the submission says so
        return ""
    checkpoints = submission.path.parent / _CHECKPOINTS
    hidden = [] if checkpoints.is_symlink() else _notebooks(files_in(checkpoints))
    if submission.folder is None or not (others or hidden):
        return ""
    folder, released = submission.folder, assignment.released_digests
    notebooks = [name for name, cells in others.items() if cells]
    worked = [name for name in notebooks if _has_work(folder / name, released)]
    own = read_notebook(submission.path).with_kinds(assignment.kinds)
    missing = _missing(own.cells, assignment, released)
    files = [name for name, cells in others.items() if not cells and _may_hold(folder / name, missing, assignment)]
    if len(missing) == len(assignment.exercises):
        files += [str(path.relative_to(folder)) for path in hidden if _has_work(path, released)]
    start = f"{_shown_place(submission.path, folder)} was graded; "
    if worked:
        names = ", ".join(map(printable, worked))
        advice = "If that is the one to grade, give it the first one's name"
        return f"{start}the folder also has {names} with other work in it. {advice}"
    if files:
        names = ", ".join(map(printable, files[:SHOWN])) + (", ..." if len(files) > SHOWN else "")
        return f"{start}it has nothing for {', '.join(missing)}, but the folder also has {names}"
    has, it = ("has", "it") if len(notebooks) == 1 else ("have", "them")
    return f"{start}{', '.join(map(printable, notebooks))} beside it {has} no work in {it}" if notebooks else ""


def _notice_of_text(cells: Sequence[NotebookCell], assignment: Assignment) -> str:
    """A sentence on exercises that only text cells define, which do not run; empty if there is none."""
    released = assignment.released_digests
    missing = _missing(cells, assignment, released)
    found = {
        name: number
        for number, cell in enumerate(cells, 1)
        if cell.cell_type != "code" and text_digest(cell.source) not in released
        for name in _DEFINED.findall(cell.source)
        if name in missing
    }
    places = ", ".join(f"{name} in cell {number}" for name, number in found.items())
    return f"only text cells, which do not run, define {places}" if places else ""


def _missing(cells: Sequence[NotebookCell], assignment: Assignment, released: Collection[str]) -> list[str]:
    """The exercises that a notebook has nothing for: all code cells that could hold them are as released."""
    known = {*released, *as_handed_out(cells)}
    worked = [cell for cell in cells if cell.cell_type == "code" and text_digest(cell.source) not in known]
    names = {name for cell in worked for name in (cell.grade_id, *_DEFINED.findall(cell.source))}
    return [exercise.name for exercise in assignment.exercises if exercise.name not in names]


def _may_hold(path: Path, missing: Collection[str], assignment: Assignment) -> bool:
    """True for Python code with an exercise that the notebook lacks, and for any file if it lacks all of them."""
    if len(missing) == len(assignment.exercises):
        return bool(missing)
    try:
        code = read_bytes(path, MAX_BYTES, "") if path.suffix == ".py" else b""
    except SubmissionError:
        return False
    return not set(missing).isdisjoint(_DEFINED.findall(code.decode(errors="replace")))


def as_handed_out(cells: Iterable[NotebookCell]) -> set[str]:
    """Digests of the cells that are as this student got them, by nbgrader's checksums. The course may have changed."""
    return digests_of((cell.cell_type, cell.grade_id, cell.source) for cell in cells if cell.untouched)


def _has_work(path: Path, released: Collection[str]) -> bool:
    """True if a cell is as in no release. Cells above all that are released or named may install the course."""
    try:
        cells = read_notebook(path).cells
    except SubmissionError:
        return False
    known = {*released, *as_handed_out(cells)}
    is_released = [text_digest(cell.source) in known for cell in cells]
    course = [bool(cell.grade_id) or same for cell, same in zip(cells, is_released, strict=True)]
    start = course.index(True) if True in course else 0
    return not all(is_released[start:])


def untouched(notebooks: Iterable[Path], assignment: Assignment) -> list[Path]:
    """Those that are as students got them, beside one with work in it; empty if there is none."""
    released = assignment.released_digests
    readable = [path for path in notebooks if _is_readable(path)]
    worked = [path for path in readable if released and _has_work(path, released)]
    return [path for path in readable if path not in worked] if worked else []


def _is_readable(path: Path) -> bool:
    try:
        return bool(read_notebook(path))
    except SubmissionError:
        return False


def _are_equal(notebooks: Sequence[Path]) -> bool:
    return all(read_notebook(one).cells == read_notebook(notebooks[0]).cells for one in notebooks[1:])


def of_another(path: Path, assignment: Assignment) -> str:
    """Why a notebook is not this assignment's, if it has no exercise of it and all exercises of another; else empty."""
    found = _exercises_in(path)
    with contextlib.suppress(CourseError):  # reported when the assignment is graded
        if not found.isdisjoint(exercise.name for exercise in assignment.exercises):
            return ""
        for other in Course(assignment.root, assignment.course_folder).assignments().values():
            names = {exercise.name for exercise in other.exercises}
            if names and names <= found:
                cells = f"the cells of {other.name}, and none of {assignment.name}"
                return f"{printable(path.name)} has {cells}. Was the wrong file handed in?"
    return ""


def _has_cells_of(path: Path, assignment: Assignment) -> bool:
    """True if a notebook has a cell of one of the assignment's exercises."""
    return not _exercises_in(path).isdisjoint(exercise.name for exercise in assignment.exercises)


def _exercises_in(path: Path) -> set[str]:
    """Names of exercises by the cells of a notebook, and other names; empty if it cannot be read.

    Where no cell has a name of nbgrader's any more, what code cells define counts.
    """
    try:
        cells = read_notebook(path).cells
    except SubmissionError:
        return set()
    return _named(cells) or _defined(cells)


def _named(cells: Iterable[NotebookCell]) -> set[str]:
    return {cell.grade_id.removeprefix(CHECK) for cell in cells if cell.grade_id}


def _defined(cells: Iterable[NotebookCell]) -> set[str]:
    return {name for cell in cells if cell.cell_type == "code" for name in _DEFINED.findall(cell.source)}


def names_in(folder: Path) -> list[str]:
    """The names in a folder, sorted. Raises `OSError` if it cannot be listed, or what is in it cannot be reached."""
    return sorted(os.listdir(os.path.join(folder, ".")))


def unreadable(folder: Path, error: OSError) -> str:
    """Why a folder cannot be listed."""
    return f"the folder {printable(folder.name)} cannot be read: {error.strerror}"
