"""Untrusted text on pages that open in an instructor's browser with the instructor's rights.

`Page` makes feedback pages, and formgrader's page of a submission. Output of student code is text already (see
`preprocessor`). Texts in Markdown become HTML here, and only the elements and addresses that are listed below stay.
"""

from __future__ import annotations

import contextlib
import copy
import html
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote
from xml.etree.ElementTree import Element, tostring

from jinja2 import pass_context
from latex2mathml.converter import Converter
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat.notebooknode import from_dict
from nbformat.v4 import new_markdown_cell
from traitlets import Unicode, default

from autograder.course.assignments import Written, course_at
from autograder.course.content import settings_now
from autograder.course.source_notebook import CHECK_PREFIX, as_released, exercise_name
from autograder.errors import CourseError
from autograder.nbgrader.feedback_page import feedback_page, with_exercise_names
from autograder.nbgrader.hardening.restore import ATTACHMENT
from autograder.nbgrader.hardening.sanitise import ACTIVE_FORMULA, cleaned
from autograder.nbgrader.preprocessor import FAILED, FOR_GRADERS
from autograder.submission import grade_id
from autograder.text import REPLACEMENT

MAX_FORMULA = 300  # characters of a student's formula that is drawn; longer ones stand there as text
_MARK = re.compile(r"formula[0-9a-f]{32}")
MAX_RENDERED = 8_000  # characters of Markdown that is shown as such; the worst known of this length takes 0.3 s
MAX_ALL_RENDERED = 200_000  # the same of all of a student's texts together; an essay of 30,000 words
MAX_COLOURED = 10_000  # characters of code that is shown in colours; an exercise has 2,000
MAX_BLOCKS = 20  # blocks of code in a text that are shown in colours; to begin one takes as long as 100 lines
# Markdown parsers take time that grows with the square of a run's length; nobody writes a longer one.
_LONG_RUN = re.compile(r"([^\w\s])\1{200}")
_LONG_GAP = re.compile(r"\s{300}")  # Pygments takes time that grows with the square of blank lines in a row
_CONTROLS = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # a terminal that shows the page would act on some
_UNDESCRIBED = re.compile(r"<img(?=\s)(?![^>]*\salt=)")  # such as what code has drawn


def as_mathml(tex: str, block: bool) -> str | None:
    """MathML of a formula; None if the converter does not know something in it, and MathJax has to draw it."""
    if ACTIVE_FORMULA.search(tex):
        return None
    try:
        formula = Converter(display="block" if block else "inline").convert_to_element(tex)
    except Exception:  # it has a dozen of its own, and raises others for unusual input
        return None
    for element in formula.iter():
        element.text, element.tail = html.unescape(element.text or ""), html.unescape(element.tail or "")
    # The converter's own string would let a `<` in \text{...} through as markup; this escapes it.
    return tostring(formula, encoding="unicode") if all(map(_is_known, formula.iter())) else None


def _is_known(element: Element) -> bool:
    """True if an element was converted, rather than passed on as a backslash or as an operator without a name."""
    return "\\" not in (element.text or "") and not (element.tag == "mo" and not element.text)


class Highlighter(Highlight2HTML):
    """nbconvert's own for Python, but code for which Pygments might take long has no colours."""

    def __call__(self, source: str, language: str | None = None, metadata: Any = None) -> str:
        """Code as HTML. Of other languages, a magic's or a Markdown text's, Pygments' rules may take for ever."""
        if language not in (None, "python", "python3", "py") or len(source) > MAX_COLOURED or _LONG_GAP.search(source):
            return without_colours(source)
        return str(super().__call__(source))


def without_colours(code: str) -> str:
    """Code as HTML."""
    return f'<div class="highlight"><pre>{html.escape(code)}</pre></div>'


class Renderer(IPythonRenderer):
    """nbconvert's own, but a missing picture does not stop the page."""

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """An image, or a sentence that it is missing. Its name may be written with %20 for a space."""
        name = unquote(url.removeprefix(ATTACHMENT))
        if url.startswith(ATTACHMENT) and name in self.attachments:
            url = ATTACHMENT + name
        try:
            return str(super().image(text, url, title))
        except InvalidNotebook:
            return f"[{text}: this picture is not in the notebook, is no PNG, JPEG, GIF or WebP, or is shown above]"


Kind = TypeVar("Kind", bound=Renderer)


class OwnRenderer(Renderer):
    """For the course's own texts: a browser draws their formulas without a network."""

    def inline_math(self, body: str) -> str:
        """A formula within a line."""
        return as_mathml(body, block=False) or str(super().inline_math(body))

    def block_math(self, body: str) -> str:
        """A formula on a line of its own."""
        return as_mathml(body, block=True) or str(super().block_math(body))


class UntrustedRenderer(Renderer):
    """For students' texts: no short text takes long, or becomes a long page."""

    attachments: dict[str, dict[str, str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.blocks = 0  # of code, so far
        self.formulas: dict[str, str] = {}  # MathML by what stands for it until the page is sanitised

    def inline_math(self, body: str) -> str:
        """A formula within a line."""
        return self._formula(body, block=False) or str(super().inline_math(body))

    def block_math(self, body: str) -> str:
        """A formula on a line of its own."""
        return self._formula(body, block=True) or str(super().block_math(body))

    def _formula(self, tex: str, block: bool) -> str:
        """What stands for a formula; empty if it is too long to convert, or cannot be converted."""
        formula = as_mathml(tex, block) if len(tex) <= MAX_FORMULA else None
        if formula is None:
            return ""
        mark = f"formula{secrets.token_hex(16)}"
        self.formulas[mark] = formula
        return mark

    def block_code(self, code: str, info: str | None = None) -> str:
        """A block of code, in colours if it is Python."""
        language = (info or "").split()[:1]
        self.blocks += 1
        if self.blocks > MAX_BLOCKS:
            return without_colours(code)
        return Highlighter("python")(code, language[0]) if language else super().block_code(code, info)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """An image; a pasted one is in the page only once."""
        shown = super().image(text, url, title)
        self.attachments = {name: data for name, data in self.attachments.items() if url != f"attachment:{name}"}
        return shown


class Page(HTMLExporter):
    """nbconvert's exporter with sanitised untrusted text.

    HTML in a student's text is shown as text. HTML in a grader's comment stays if it is harmless. The course's own
    cells are not changed.
    """

    root = Unicode(help="the course's folder")
    own: frozenset[str] = frozenset()  # the course's own texts in the notebook that is being shown
    left = MAX_ALL_RENDERED  # characters of other texts on this page that may still be shown as Markdown

    @default("root")
    def _root_default(self) -> str:
        return str(self.parent.coursedir.root) if self.parent else ""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> Any:
        """A page and its resources."""
        resources = resources or {}
        info, for_grader = resources.get("nbgrader", {}), resources.get("assignment_id")
        shown, self.left = copy.deepcopy(nb), MAX_ALL_RENDERED
        for cell in shown.cells:
            if cell.get("metadata", {}).get("nbgrader", {}).get("grade") and cell.cell_type == "code":
                cell.source = as_released(cell.source)  # readers must not see hidden lines
        self.own, contact = frozenset(), ""
        with contextlib.suppress(CourseError, OSError):  # if the course cannot be read, all texts are untrusted
            assignment = course_at(Path(self.root)).assignment(for_grader or info.get("assignment", ""))
            self.own, contact = assignment.source.texts, settings_now(assignment.root).contact
            if for_grader:
                self._add_model_answers(shown, assignment.written)
                _add_words_for_graders(shown)
        page, resources = self._page(shown, resources, **kw)
        page = _CONTROLS.sub(REPLACEMENT, with_exercise_names(page))
        return (feedback_page(page, info, contact, _failed(nb)) if "db_url" in info else page), resources

    def _page(self, notebook: Any, resources: Any, **kw: Any) -> Any:
        """As `HTMLExporter` makes it, without parsing the whole page again, which took three quarters of the time."""
        resources, language = self._init_resources(resources), notebook.metadata.get("language_info", {})
        lexer = language.get("pygments_lexer", language.get("name"))
        self.register_filter("highlight_code", Highlighter(pygments_lexer=lexer, parent=self))
        kinds = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self.register_filter("filter_data_type", kinds)
        page, resources = super(HTMLExporter, self).from_notebook_node(notebook, resources, **kw)
        return _UNDESCRIBED.sub('<img alt="a picture without a description"', page), resources

    def _add_model_answers(self, notebook: Any, written: Mapping[str, Written]) -> None:
        """Add the model answer and the rubric above each written answer: in formgrader, and never in feedback."""
        cells = []
        for cell in notebook.cells:
            question = written.get(grade_id(cell))
            if question is not None and cell.cell_type == "markdown":
                text = for_graders(question)
                self.own |= {text}
                cells.append(new_markdown_cell(text))
            cells.append(cell)
        notebook.cells = cells

    def default_filters(self) -> Any:
        """All filters by which the templates make HTML of a text."""
        yield from super().default_filters()
        yield "markdown2html", self.markdown2html
        yield "clean_html", cleaned  # raw cells
        yield "strip_files_prefix", lambda markup: markup  # nbconvert's makes `files/javascript:` an active link

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """A cell's text, or a grader's comment on it, as HTML."""
        cell = context.get("cell", {})
        if source in self.own:
            return str(MarkdownWithMath(renderer=self._renderer(cell, OwnRenderer, escape=False)).render(source))
        if len(source) > min(MAX_RENDERED, self.left) or _LONG_RUN.search(source):
            return _as_text(source, cell)
        self.left -= len(source)
        try:
            renderer = self._renderer(cell, UntrustedRenderer, escape=source == cell.get("source"))
            shown = cleaned(MarkdownWithMath(renderer=renderer).render(source))
            return _MARK.sub(lambda found: renderer.formulas.get(found[0], found[0]), shown)
        except Exception as error:  # such as brackets nested without end; this must not cost the whole page
            self.log.warning("Shown as text, since it cannot be shown as Markdown: %s", error)
            return _as_text(source, cell)

    def _renderer(self, cell: Any, kind: type[Kind], escape: bool) -> Kind:
        return kind(
            escape=escape,
            attachments=cell.get("attachments", {}),
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links or escape,  # they need an id
            **self.lexer_options,
        )


def _failed(notebook: Any) -> dict[str, str]:
    """The first test that each graded exercise fails; empty if it fails none."""
    checks = (cell for cell in notebook.cells if cell.cell_type == "code" and grade_id(cell).startswith(CHECK_PREFIX))
    return {
        exercise_name(grade_id(cell)): next(
            (output.metadata[FAILED] for output in cell.outputs if FAILED in output.get("metadata", {})), ""
        )
        for cell in checks
    }


def _add_words_for_graders(notebook: Any) -> None:
    """Add below each result what only graders see, such as a line that repairs the code: never in feedback."""
    for cell in notebook.cells:
        found = [output.metadata.get(FOR_GRADERS) for output in cell.get("outputs", ()) if "metadata" in output]
        for words in filter(None, found):
            text = f"For graders: {words}"
            cell.outputs.append(from_dict({"output_type": "stream", "name": "stdout", "text": text}))


def _as_text(source: str, cell: Any) -> str:
    """A text as it was written, not as Markdown, with its cell's pictures below it."""
    pictures = cell.get("attachments", {}).values() if source == cell.get("source") else ()
    shown = "".join(
        f'<img alt="a picture of the text above" src="data:{kind};base64,{html.escape(data)}">'
        for bundle in pictures
        for kind, data in list(bundle.items())[:1]
    )
    return cleaned(f"<pre>{html.escape(source)}</pre>{shown}")


def for_graders(question: Written) -> str:
    """A written question's rubric and model answer, as Markdown that stands apart from the student's text."""
    rubric = [f"- {points:g}: {text}" for points, text in question.rubric]
    text = "\n".join(["**For graders, a model answer.**", "", question.answer, "", *rubric]).rstrip()
    # Formgrader's own size for a quotation is larger than the answer's.
    return f'<blockquote style="font-size:inherit">\n\n{text}\n\n</blockquote>'
