"""Restores what makes a submitted notebook's cells the course's: metadata, locked text, missing cells.

Nothing that a student wrote is dropped, unless it is longer than a book. If a written answer may be in another place
than its cell, the cell gets a sentence that says where, and a person grades it. `pages` turns all text into HTML.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import compute_checksum

from autograder.course.source_notebook import digests_of, text_digest
from autograder.discovery import as_handed_out
from autograder.nbgrader.gradebook_rows import CourseCell
from autograder.nbgrader.hardening.own_words import has_own_lines, may_answer, words_below
from autograder.nbgrader.preprocessor import GradingContext, context_in
from autograder.submission import PICTURES, UNTOUCHED, Cells, NotebookCell, grade_id, is_plain_check
from autograder.text import one_line, printable, squeezed

LOST = "*This answer's cell has lost the name that nbgrader gave it. The notebook has this text by the student:*"
NO_WORDS = "*The cell of this answer was not handed in, and the notebook has no text by the student.*"
ELSEWHERE = "*This cell is as it was released. The answer may be elsewhere; a person looks at it:*"
GOES_ON_IN = "*The answer may go on in another cell:*"
# A picture as Colab pastes it. The name ends where base64 does, so the pattern takes linear time.
_PASTED = re.compile(rf"data:({'|'.join(map(re.escape, PICTURES))});base64,([A-Za-z0-9+/]+={{0,2}})")
ATTACHMENT = "attachment:"  # begins the address of a picture that lies in its cell
_OTHER_FILE = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,[A-Za-z0-9+/=]{200,}+")
ONLY_HANDED_IN = "(this file is only in the notebook that was handed in)"
_ATTACHED = re.compile(r"""attachment:([^\s"'<>()]+)""")
_IN_HTML = re.compile(r"""["'=]attachment:([^"'>\s]+)""")  # the name of an attached picture in <img src="...">
MAX_QUOTED = 20_000  # characters of other cells that are repeated in the cell of an answer; six sentences have 800
MAX_SHOWN = 1_000_000  # characters of all texts together: a thick book. Graded copies then stay readable for the kit
CUT_OFF = "*(This text goes on in the notebook that was handed in.)*"
FIRST_WORDS = 60  # characters by which a notice names a cell
MAX_CODE, MAX_ALL_CODE = 100_000, 300_000  # characters of code that are kept for pages: of a cell, and of all together
Numbered = tuple[int, NotebookNode]  # a cell with its place in the notebook, from 1
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class RestoreCells(NbGraderPreprocessor):
    """Takes the metadata of graded cells from the gradebook, never from the submission, and adds missing cells.

    It also makes the student's text beside code safe to show in a browser.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Restore in place."""
        context = context_in(resources)
        known = _known(context, nb.cells)
        nb.metadata.update({"kernelspec": KERNEL, "language_info": {"name": "python"}})
        if moved := sum(_set_pictures_aside(number, cell) for number, cell in enumerate(nb.cells, 1)):
            context.moved_pictures[context.submission.student] = moved
        if _fit(nb.cells, context):
            place = printable(str(context.submission.path))
            context.notice(f"texts beyond {MAX_SHOWN:,} characters are only in {place}; its cells say where")
        named = defaultdict[str, list[Numbered]](list)
        for number, cell in enumerate(nb.cells, 1):
            named[grade_id(cell)].append((number, cell))
        restored: set[str] = set()
        nb.cells = [new for cell in nb.cells for new in _restored(cell, context.cells, restored, known)]
        texts = [
            (number, cell)
            for number, cell in enumerate(nb.cells, 1)
            if "nbgrader" not in cell.metadata and may_answer(cell, known)
        ]
        below_code = list(_below_code(nb.cells, known))
        for name, cell in context.cells.items():
            if not cell.grade:
                continue
            if not (name in restored or (cell.is_answer and _name_given_back(nb, cell, known))):
                self.log.warning("Cell '%s' is missing from the submission; it was put back at the end", name)
                nb.cells.append(_answer(cell, texts, context) if cell.is_answer else _new_cell(cell))
            elif cell.is_answer:
                at, answer = next((number, c) for number, c in enumerate(nb.cells, 1) if grade_id(c) == name)
                copies = [(number, copy) for number, copy in named[name] if copy is not answer]
                _mention_elsewhere(answer, [*texts, *below_code], context, known)
                _mention_copies(answer, [*copies, *_beside(at, texts)], context, known)
        return nb, resources


def _below_code(cells: Iterable[NotebookNode], known: Collection[str]) -> Iterator[Numbered]:
    """What students wrote as comments below the code of an exercise, each as a cell."""
    for number, cell in enumerate(cells, 1):
        if cell.cell_type == "code" and "nbgrader" in cell.metadata and (words := words_below(cell.source, known)):
            yield number, new_code_cell(words)


def _mention_elsewhere(
    answer: NotebookNode, texts: Sequence[Numbered], context: GradingContext, known: Collection[str]
) -> None:
    """If an answer is as released, say in its cell where the student's own texts are: then a person has to read it."""
    name = grade_id(answer)
    if name in context.left_empty or text_digest(answer.source, name) not in known:
        return
    places = [f'cell {number}, "{_first_words(cell.source)}"' for number, cell in texts]
    found: list[tuple[object, Any]] = list(texts)
    for file in context.submission.beside:
        place = printable(str(file.place))
        if file.holds in ("unread", "unknown"):
            places.append(place)
        elif answers := list(_answers_in(file.cells, name, context, known)):
            places.append(f'{place}, "{_first_words(answers[0].source)}"')
            found += [(f"{len(places)}-{number}", cell) for number, cell in enumerate(answers)]
    if not places:
        return
    where = "; ".join(places[:5]) + ("; ..." if len(places) > 5 else "")
    answer.source = f"{ELSEWHERE}\n\n{as_plain(where)}"
    _add(answer, found)
    context.notice(
        f"the cell of '{name}' is as it was released, and the answer may be in another place: {where}. "
        "It waits for a person"
    )


def _mention_copies(
    answer: NotebookNode, copies: Sequence[Numbered], context: GradingContext, known: Collection[str]
) -> None:
    """If an answer has text, and a copy of its cell or a cell beside it has another, say where that is."""
    if answer.source.startswith(ELSEWHERE):
        return
    known = {*known, text_digest(answer.source)}
    for number, copy in copies:
        if text_digest(copy.source) not in known:
            known.add(text_digest(copy.source))
            where = f'cell {number}, "{_first_words(copy.source)}"'
            answer.source += f"\n\n{GOES_ON_IN} {as_plain(where)}"
            _add(answer, [(number, copy)])
            name = grade_id(answer)
            context.notice(f"the cell of '{name}' is not all of the answer: {where}. Grade both as one answer")


def _beside(number: int, texts: Sequence[Numbered]) -> Iterator[Numbered]:
    """The student's own texts directly above and below a cell, such as the other half of an answer that was split."""
    by_number = dict(texts)
    for step in (-1, 1):
        at = number + step
        while at in by_number:
            yield at, by_number[at]
            at += step


def _add(answer: NotebookNode, cells: Iterable[tuple[object, Any]], most: int = MAX_QUOTED) -> None:
    """Repeat other cells in an answer's cell, unless they have more characters; each has a number of its own."""
    pictures: dict[str, dict[str, str]] = dict(answer.get("attachments", {}))
    words = "\n\n".join(_quoted(number, cell, pictures) for number, cell in cells)
    if words and len(words) <= most:
        answer.source += f"\n\n{words}"
        if pictures:
            answer.attachments = pictures


def _quoted(number: object, cell: Any, pictures: dict[str, dict[str, str]]) -> str:
    """A cell's text for Markdown, with code as it is. Its pictures are added under names of their own.

    JupyterLab calls the first picture in each cell image.png.
    """
    attached = getattr(cell, "attachments", {})
    pictures |= {f"cell-{number}-{name}": data for name, data in attached.items()}

    def renamed(found: re.Match[str]) -> str:
        name = unquote(found[1])
        return ATTACHMENT + quote(f"cell-{number}-{name}") if name in attached else found[0]

    text = _ATTACHED.sub(renamed, cell.source)
    return f"~~~~\n{text}\n~~~~" if cell.cell_type == "code" else text


def _answers_in(cells: Cells, name: str, context: GradingContext, known: Collection[str]) -> Iterator[NotebookCell]:
    """What may answer a question in another notebook of the same student."""
    known = {*known, *as_handed_out(cells)}
    for cell in cells:
        of_the_course = cell.grade_id != name and cell.grade_id in context.cells
        if not of_the_course and may_answer(cell, known):
            yield cell


def _known(context: GradingContext, cells: Iterable[NotebookNode]) -> frozenset[str]:
    """Digests of the course's own texts, those of all releases, and those of the release that this student got."""
    handed_out = (cell for cell in cells if cell.metadata.get("nbgrader", {}).get(UNTOUCHED))
    named = [(cell.cell_type, name, cell.source) for name, cell in context.cells.items()]
    named += [(cell.cell_type, grade_id(cell), cell.source) for cell in handed_out]
    return context.assignment.own_digests | digests_of(named)


def _first_words(text: str) -> str:
    words = one_line(text[: 4 * FIRST_WORDS])
    return words if len(words) <= FIRST_WORDS else f"{words[:FIRST_WORDS]}..."


def as_plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#!|$~])", r"\\\1", text)


def _fit(cells: Sequence[NotebookNode], context: GradingContext) -> bool:
    """Bound the text of all Markdown and raw cells together, answers first. True if something had to go."""
    left, cut = MAX_SHOWN, False
    texts = [cell for cell in cells if cell.cell_type != "code"]
    for cell in sorted(texts, key=lambda cell: grade_id(cell) not in context.cells):
        if len(cell.source) > left:
            cell.source, cut = f"{cell.source[:left]}\n\n{CUT_OFF}", True
        left = max(0, left - len(cell.source))
    return cut


def _set_pictures_aside(number: int, cell: NotebookNode) -> int:
    """Move pictures that stand in a text as base64 to the cell's attachments. Returns how many.

    Pages show a student's HTML as text, so a picture in it is shown below. Of other files only the kind stays.
    number: the cell's position, so that no two cells use the same name for a picture
    """
    if cell.cell_type != "markdown":
        return 0
    pictures, as_html = dict(cell.get("attachments", {})), []

    def moved(found: re.Match[str]) -> str:
        name = f"in-text-{number}-{len(pictures) + 1}.{found[1].removeprefix('image/')}"
        pictures[name] = {found[1]: found[2]}
        if found.string[max(0, found.start() - 1) : found.start()] in ('"', "'"):
            as_html.append(f"![{name}]({ATTACHMENT}{name})")
        return ATTACHMENT + name

    text, count = _PASTED.subn(moved, cell.source)
    text = _OTHER_FILE.sub(rf"\1 {ONLY_HANDED_IN}", text)
    named = dict.fromkeys(unquote(name) for name in _IN_HTML.findall(cell.source))
    as_html += [f"![]({ATTACHMENT}{quote(name)})" for name in named if name in pictures]
    cell.source = "\n\n".join([text, *as_html])
    if count:
        cell.attachments = pictures
    return count


def _name_given_back(nb: NotebookNode, wanted: CourseCell, known: Collection[str]) -> bool:
    """Give an unchanged cell that has lost its name the name back. True if there is one.

    Nobody has to read such an answer.
    """
    nameless = (cell for cell in nb.cells if cell.cell_type == wanted.cell_type and "nbgrader" not in cell.metadata)
    for cell in nameless:
        if cell.source == wanted.source or _is_of_an_earlier_release(cell, wanted, known):
            _give_metadata(cell, wanted, known)
            return True
    return False


def _give_metadata(cell: NotebookNode, wanted: CourseCell, known: Collection[str]) -> None:
    """Give a cell the course's metadata. If it is as an earlier release had it, nbgrader takes it for unchanged."""
    cell.metadata["nbgrader"] = wanted.metadata()
    if _is_of_an_earlier_release(cell, wanted, known):
        cell.metadata.nbgrader["checksum"] = compute_checksum(cell)


def _is_of_an_earlier_release(cell: NotebookNode, wanted: CourseCell, known: Collection[str]) -> bool:
    """True if a cell is as a release had it, and the course's text is another one now."""
    return squeezed(cell.source) != squeezed(wanted.source) and text_digest(cell.source, wanted.grade_id) in known


def _answer(wanted: CourseCell, texts: Sequence[Numbered], context: GradingContext) -> NotebookNode:
    """A cell with all texts that may be the answer. It differs from the release, so that a person has to read it."""
    cell = _new_cell(wanted)
    cell.source, why = (LOST, "had lost nbgrader's name for its cell") if texts else (NO_WORDS, "has no cell")
    _add(cell, texts, 2 * MAX_SHOWN)
    context.notice(f"the answer to '{wanted.grade_id}' {why}; it waits for a person")
    return cell


def _restored(
    cell: NotebookNode, wanted: Mapping[str, CourseCell], restored: set[str], known: Collection[str]
) -> list[NotebookNode]:
    """The cell with the course's metadata, and with the course's text if students may not change it.

    If a student wrote into such a cell, it comes first as the student left it.
    """
    name = grade_id(cell)
    cell.metadata.pop("nbgrader", None)
    course_cell = wanted.get(name)
    if course_cell is None or name in restored or cell.cell_type != course_cell.cell_type:
        return [cell]
    restored.add(name)
    locked = course_cell.locked
    # Changed asserts and given code are replaced, as in nbgrader: run beside the course's, they would cost marks.
    runs = cell.cell_type == "code" and not is_plain_check(course_cell.source)
    own = text_digest(cell.source, name) not in known and has_own_lines(cell.source, course_cell.source)
    if locked and not runs and own:
        return [cell, _new_cell(course_cell)]
    _give_metadata(cell, course_cell, known)
    if locked:  # else nbgrader warns about each check cell, whose hidden lines students lack
        cell.source = course_cell.source
    return [cell]


def _new_cell(cell: CourseCell) -> NotebookNode:
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return make(source=cell.source, metadata={"nbgrader": cell.metadata()})


def shorten_code(cells: Iterable[Any]) -> None:
    """Shorten code in place to what a page can show, after it has run. What was handed in stays as it is."""
    left = MAX_ALL_CODE
    for cell in cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("locked"):
            most = min(left, MAX_CODE)
            left -= min(most, len(cell.source))
            if len(cell.source) > most:
                cell.source = f"{cell.source[:most]}\n# ... (the rest of this cell is not shown)"
