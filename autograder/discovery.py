"""Finds what to grade: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from autograder.course.assignments import CHECK, Assignment, Course
from autograder.errors import SubmissionError
from autograder.reading import read_bytes
from autograder.submission import MAX_BYTES, NotebookCell, Submission, read_notebook
from autograder.text import printable, shown_name, squeezed

# formgrader writes a student's id into its pages unescaped: between tags, in attributes, in scripts.
ACTS = re.compile(r'[<>"\\\x00-\x1f\x7f]')
ENDS_LINES = ("Cc", "Cs", "Zl", "Zp")  # Unicode categories that break a line, a terminal or a text file
_DEFINED = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)
MAX_NOTEBOOKS = 20  # with other names, that are searched for the assignment's cells
SHOWN = 5  # names of files in a sentence
MAX_FILES = 1000  # of a submission, that are looked at
# Files that may hold answers, such as code, a text or a photo of a page.
_DOCUMENTS = {".ipynb", ".py", ".txt", ".md", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".html", ".tex", ".png", ".jpg",
              ".jpeg", ".heic"}  # fmt: skip
_NBGRADERS = {"timestamp.txt", "submission_secret.txt", "DUE.txt"}


def find_submissions(paths: list[Path], course: Course, only: str | None = None) -> list[Submission]:
    """The submissions below `paths`: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.

    Raises `SubmissionError` if a path holds nothing that can be graded.
    """
    found: list[Submission] = []
    for path in paths:
        if path.is_dir():
            below = list(_in_folder(path, course, only))
            if not below:
                raise SubmissionError(f"{path}: no submission in it; the layout is STUDENT/ASSIGNMENT/NOTEBOOK.ipynb")
            found += below
        elif path.exists() or path.is_symlink():
            found.append(_single(path, course, only))
        else:
            raise SubmissionError(f"{path}: no such file or folder")
    return found


def _single(path: Path, course: Course, only: str | None) -> Submission:
    """One notebook. The option, the folder or the file name gives its assignment; the folder gives its student."""
    folder = Path(os.path.abspath(path)).parent  # resolves `..` but no links
    names = course.assignments()
    assignment = course.of_notebook(path.name)
    name = only or (folder.name if folder.name in names else assignment.name if assignment else None)
    if name is None:
        raise SubmissionError(f"{path}: which assignment is this? Pass --assignment, one of {', '.join(names)}")
    student = folder.parent.name if folder.name == name else path.stem
    takes_model = name in names and names[name].saved_model is not None
    return Submission(_id(student), name, path, None, takes_model, folder if folder.name == name else None)


def _in_folder(folder: Path, course: Course, only: str | None) -> Iterator[Submission]:
    folder, names = Path(os.path.abspath(folder)), course.assignments()  # so that `.` has a name
    if folder.name in names:  # STUDENT/ASSIGNMENT itself
        yield from of_assignment(folder.parent.name, folder, names[folder.name], only)
        return
    children = sorted(p for p in folder.iterdir() if p.is_dir())
    if work := [child for child in children if child.name in names]:  # one student's folder
        for child in work:
            yield from of_assignment(folder.name, child, names[child.name], only)
        return
    broken = course.broken()
    handed_in, unreadable = dict[str, Assignment](), dict[Path, str]()
    for student in children:
        try:
            inside = sorted(student.iterdir())
        except OSError as error:
            unreadable[student] = _unreadable(student, error)
            continue
        for child in inside:
            if child.name in names and child.is_dir():
                handed_in[child.name] = names[child.name]
                yield from of_assignment(student.name, child, names[child.name], only)
            elif child.name in broken and child.is_dir() and only in (None, child.name):
                yield Submission(_id(student.name), child.name, child, broken[child.name])
    # An unreadable folder may hold anything, so it counts as one failed submission of each assignment found.
    for student, reason in unreadable.items():
        for assignment in handed_in.values():
            if only in (None, assignment.name):
                path = student / assignment.name / assignment.notebook.name
                yield Submission(_id(student.name), assignment.name, path, reason)


def of_assignment(student: str, folder: Path, assignment: Assignment, only: str | None = None) -> Iterator[Submission]:
    """The submission in a student's folder of an assignment; nothing if `only` asks for another assignment."""
    if only is not None and assignment.name != only:
        return
    path, problem = folder / assignment.notebook.name, name_problem(student)
    if problem is None and folder.is_symlink():
        problem = f"the folder {folder.name} is a link; put the files themselves there"
    if problem is None:
        path, problem = notebook_in(folder, assignment)
    yield Submission(_id(student), assignment.name, path, problem, assignment.saved_model is not None, folder)


def notebook_in(folder: Path, assignment: Assignment) -> tuple[Path, str | None]:
    """The path of an assignment's notebook in a folder, and the problem if there is none.

    Other names and places count, too, if a notebook has the assignment's cells: a browser names a second download
    `first (1).ipynb`, JupyterLab a copy `first-Copy1.ipynb`. If only one has work in it, it is that one.
    """
    path = folder / assignment.notebook.name
    try:
        entries = sorted(p.name for p in folder.iterdir())
    except OSError as error:
        return path, _unreadable(folder, error)
    found = [other for other in _notebooks(files_in(folder)) if other != path and _has_cells_of(other, assignment)]
    released = _released_texts(assignment) if found else set()
    if path.name in entries:
        found.insert(0, path)
    worked = [notebook for notebook in found if released and _has_work(notebook, released)]
    if worked and _are_equal(worked):
        return worked[0], None
    if found and (found[0] == path or len(found) == 1):
        return found[0], None
    if found:
        names = ", ".join(_shown_place(notebook, folder) for notebook in found)
        return path, f"no {path.name}, and more than one notebook with its cells: {names}. Leave one of them"
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
    return not path.is_symlink() and path.is_file()


def _notebooks(files: Iterable[Path]) -> list[Path]:
    return [path for path in files if path.suffix == ".ipynb"][:MAX_NOTEBOOKS]


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


def notice_of_others(submission: Submission, assignment: Assignment) -> str:
    """A sentence on further files that may hold work beside the notebook that is graded; empty if there is none."""
    try:
        others = other_files(submission, assignment)
    except (OSError, SubmissionError):  # the reader of the submission says so
        return ""
    if submission.folder is None or not others:
        return ""
    folder, released = submission.folder, _released_texts(assignment)
    notebooks = [name for name, cells in others.items() if cells]
    worked = [name for name in notebooks if _has_work(folder / name, released)]
    missing = _missing(submission.path, assignment, released)
    files = [name for name, cells in others.items() if not cells and _may_hold(folder / name, missing, assignment)]
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


def notices_of_others(found: Iterable[Submission], course: Course) -> Iterator[str]:
    """The same for each submission that lies in a folder of its assignment, with the student's name."""
    assignments = course.assignments()
    for submission in found:
        if submission.problem or submission.assignment not in assignments:
            continue
        if notice := notice_of_others(submission, assignments[submission.assignment]):
            yield f"{shown_name(submission.student)}, {submission.assignment}: {notice}"


def _missing(path: Path, assignment: Assignment, released: Collection[str]) -> list[str]:
    """The exercises that a notebook has nothing for: all cells that could hold them are as released."""
    worked = [cell for cell in read_notebook(path).cells if squeezed(cell.source) not in released]
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


def _released_texts(assignment: Assignment) -> set[str]:
    """The texts of the cells as students got them; empty if the release is missing."""
    try:
        return {"", *(squeezed(cell.source) for cell in read_notebook(assignment.released).cells)}
    except SubmissionError:
        return set()


def _has_work(path: Path, released: Collection[str]) -> bool:
    """True if a cell is not as released. Cells above all that are released or named may install the course."""
    try:
        cells = read_notebook(path).cells
    except SubmissionError:
        return False
    known = [bool(cell.grade_id) or squeezed(cell.source) in released for cell in cells]
    start = known.index(True) if True in known else 0
    return any(squeezed(cell.source) not in released for cell in cells[start:])


def untouched(notebooks: Iterable[Path], assignment: Assignment) -> list[Path]:
    """Those that are as students got them, beside one with work in it; empty if there is none."""
    released = _released_texts(assignment)
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


def notebooks_beside(path: Path) -> list[Path]:
    """Other notebooks in the folder of `path`."""
    found = sorted(one for one in path.parent.iterdir() if one.suffix == ".ipynb" and one.name != path.name)
    return found[:MAX_NOTEBOOKS]


def _has_cells_of(path: Path, assignment: Assignment) -> bool:
    """True if a notebook has a cell of one of the assignment's exercises.

    Where no cell has a name of nbgrader's any more, a cell that defines an exercise counts.
    """
    names = {exercise.name for exercise in assignment.exercises}
    try:
        cells = read_notebook(path).cells
    except SubmissionError:
        return False
    if any(cell.grade_id for cell in cells):
        return any(cell.grade_id.removeprefix(CHECK) in names for cell in cells)
    return any(name in names for cell in cells if cell.cell_type == "code" for name in _DEFINED.findall(cell.source))


def _id(folder: str) -> str:
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
                os.listdir(student)
        except OSError as error:
            yield student.name, _unreadable(student, error)


def _unreadable(folder: Path, error: OSError) -> str:
    return f"the folder {printable(folder.name)} cannot be read: {error.strerror}"
