"""Untrusted text on pages that open in an instructor's browser with the instructor's rights.

`Page` makes feedback, and formgrader's page of a submission. What student code printed is text already (see `mark`).
Texts in Markdown become HTML here, and of that only the elements and addresses stay that are listed below.
"""

from __future__ import annotations

import copy
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nh3
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.server_extensions.formgrader.base import BaseHandler
from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler
from pygments.token import STANDARD_TYPES
from traitlets import Unicode, default

from autograder.assert_cells import released
from autograder.course import Written, course_at
from autograder.discovery import ACTS
from autograder.errors import CourseError
from autograder.nbgrader.due import due_line, with_due_line
from autograder.nbgrader.formulas import as_mathml
from autograder.nbgrader.list_on_top import with_lost_points_first
from autograder.nbgrader.readable import readable
from autograder.submission import PICTURES, grade_id
from autograder.text import REPLACEMENT

TAGS = {
    "a", "b", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6",
    "hr", "i", "img", "input", "kbd", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup",
    "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
}  # fmt: skip
# No id and no class but the colours of code: formgrader finds its fields by them.
ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "td": {"style"}, "th": {"style"}}
CLASSES = {"div": {"highlight"}, "span": {name for name in STANDARD_TYPES.values() if name}}
SCHEMES = {"http", "https", "mailto", "data"}  # `data` for pictures alone, see `_kept`
# A link leads to another site or to a place on the page, never to one of formgrader's own addresses.
_LINK = re.compile(r"https?://|mailto:|#", re.IGNORECASE)
_PICTURE = re.compile(rf"data:(?:{'|'.join(PICTURES)});base64,")  # as those that were pasted become
# MathJax's commands that make links, styles and classes; a formula needs none of them.
_ACTIVE_FORMULA = re.compile(r"\\(href|class|cssId|style|require|data|bbox|mmlToken)(?![A-Za-z])")


_UNDESCRIBED = re.compile(r"<img(?=\s)(?![^>]*\salt=)")  # what code has drawn, say
# What nbgrader's template calls a "Test cell" has the name of an exercise.
_NAMES = (
    (re.compile(r'(<a href="#test-(\w+)">)Test cell</a>'), r"\1<code>\2</code></a>"),
    (re.compile(r'(<a href="#written-[\w-]+">)Written response</a>'), r"\1In your own words</a>"),
    (re.compile(r'(<a href="#comment-written-[\w-]+">)Comment</a>'), r"\1Comment on your own words</a>"),
    (re.compile(r'(<a href="#comment-(\w+)">)Comment</a>'), r"\1Comment on <code>\2</code></a>"),
    (re.compile(r"Grade cell: <code>test-(\w+)</code>"), r"<code>\1</code>"),
)


def _kept(tag: str, name: str, value: str) -> str | None:
    allowed = {"href": _LINK, "src": _PICTURE}.get(name)
    return value if allowed is None or allowed.match(value) else None


CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    allowed_classes=CLASSES,
    attribute_filter=_kept,
    url_schemes=SCHEMES,
    filter_style_properties={"text-align"},
    set_tag_attribute_values={"input": {"type": "checkbox", "disabled": "", "aria-label": "task"}},  # of a list
)


def cleaned(markup: Any) -> str:
    """HTML with only what is listed above, and with no formula that acts."""
    return _ACTIVE_FORMULA.sub(r"\\text{\1}", CLEANER.clean(str(markup)))


class Renderer(IPythonRenderer):
    """nbconvert's own, but a pasted picture that is missing does not cost the page."""

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """An image, or a sentence in its place."""
        try:
            return str(super().image(text, url, title))
        except InvalidNotebook:
            return f"[{text}: this picture is not in the notebook]"


class OwnRenderer(Renderer):
    """For the course's own texts: formulas that a browser draws without a network."""

    def inline_math(self, body: str) -> str:
        """A formula in a line."""
        return as_mathml(body, block=False) or str(super().inline_math(body))

    def block_math(self, body: str) -> str:
        """A formula that has a line of its own."""
        return as_mathml(body, block=True) or str(super().block_math(body))


class Page(HTMLExporter):
    """nbconvert's exporter, but untrusted text is sanitised.

    HTML in them is shown as text. The course's own cells stay as they are. In a grader's comment, HTML that is harmless
    is kept.
    """

    root = Unicode(help="the course's folder")
    own: frozenset[str] = frozenset()  # the course's own texts in the notebook that is being shown

    @default("root")
    def _root_default(self) -> str:
        return str(self.parent.coursedir.root) if self.parent else ""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> Any:
        """A page and its resources."""
        self.own = self._own_texts(resources or {})
        shown = copy.deepcopy(nb)
        for cell in shown.cells:
            if cell.get("metadata", {}).get("nbgrader", {}).get("grade") and cell.cell_type == "code":
                cell.source = released(cell.source)  # hidden lines are no business of a reader's
        info = (resources or {}).get("nbgrader", {})
        if "assignment_id" in (resources or {}):
            self._for_graders(shown, resources["assignment_id"])
        page, resources = self._page(shown, resources, **kw)
        for found, shown_instead in _NAMES:
            page = found.sub(shown_instead, page)
        if "db_url" in info:
            page = with_lost_points_first(with_waiting(page, waiting(info)))
            page = readable(with_due_line(page, due_line(info)))
        return page, resources

    def _page(self, notebook: Any, resources: Any, **kw: Any) -> Any:
        """As `HTMLExporter` makes it, but for reading all of the page again, which took three quarters of the time."""
        resources, language = self._init_resources(resources), notebook.metadata.get("language_info", {})
        lexer = language.get("pygments_lexer", language.get("name"))
        self.register_filter("highlight_code", Highlight2HTML(pygments_lexer=lexer, parent=self))
        kinds = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self.register_filter("filter_data_type", kinds)
        page, resources = super(HTMLExporter, self).from_notebook_node(notebook, resources, **kw)
        return _UNDESCRIBED.sub('<img alt="a picture without a description"', page), resources

    def _for_graders(self, notebook: Any, assignment: str) -> None:
        """Above each written answer the model answer and the rubric: in formgrader, and never in feedback."""
        try:
            written = course_at(Path(self.root)).assignment(assignment).written
        except (CourseError, OSError):
            return
        cells = []
        for cell in notebook.cells:
            question = written.get(grade_id(cell))
            if question is not None and cell.cell_type == "markdown":
                text = for_graders(question)
                self.own |= {text}
                cells.append(new_markdown_cell(text))
            cells.append(cell)
        notebook.cells = cells

    def _own_texts(self, resources: Any) -> frozenset[str]:
        """The course's own texts, by the name that feedback or formgrader gives the assignment, if it can be read."""
        name = resources.get("assignment_id") or resources.get("nbgrader", {}).get("assignment", "")
        try:
            return course_at(Path(self.root)).assignment(name).markdown()
        except (CourseError, OSError):
            return frozenset()

    def default_filters(self) -> Any:
        """Every way by which the templates make HTML of a text."""
        yield from super().default_filters()
        yield "markdown2html", self.markdown2html
        yield "clean_html", cleaned  # raw cells
        yield (
            "strip_files_prefix",
            lambda markup: markup,
        )  # nbconvert's would make a link that acts of `files/javascript:`

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """A cell's text, or a grader's comment on it, as HTML."""
        cell = context.get("cell", {})
        if source in self.own:
            return self._rendered(source, cell, OwnRenderer, escape=False)
        try:
            return cleaned(self._rendered(source, cell, Renderer, escape=source == cell.get("source")))
        except Exception as error:  # such as brackets in brackets without end; costs its own cell, and not the page
            self.log.warning("Shown as text, since it cannot be shown as Markdown: %s", error)
            return cleaned(f"<pre>{html.escape(source)}</pre>")

    def _rendered(self, source: str, cell: Any, kind: type[Renderer], escape: bool) -> str:
        renderer = kind(
            escape=escape,
            attachments=cell.get("attachments", {}),
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links or escape,  # they need an id
            **self.lexer_options,
        )
        return str(MarkdownWithMath(renderer=renderer).render(source))


def for_graders(question: Written) -> str:
    """A written question's rubric and model answer, as Markdown that is set off from the student's words."""
    rubric = [f"- {points:g}: {text}" for points, text in question.rubric]
    text = "\n".join(["**For graders, a model answer.**", "", question.answer, "", *rubric]).rstrip()
    # Formgrader's own size for a quotation is larger than the answer's.
    return f'<blockquote style="font-size:inherit">\n\n{text}\n\n</blockquote>'


# ---------------------------------------------------------------- feedback before all is graded


def waiting(info: Mapping[str, str]) -> list[str]:
    """Cells of a submission that wait for a person, and have no score by tests either."""
    with Gradebook(info["db_url"]) as book:
        try:
            notebook = book.find_submission_notebook(info["notebook"], info["assignment"], info["student"])
        except MissingEntry:
            return []
        return [
            grade.name
            for grade in notebook.grades
            if grade.needs_manual_grade and grade.manual_score is None and grade.auto_score is None
        ]


def with_waiting(page: str, cells: Sequence[str]) -> str:
    """The page, in which what nobody has graded yet has no 0, and the sum says that it is not the last word."""
    for name in map(re.escape, cells):
        # In the list on top, then in the cell's own heading.
        page = re.sub(
            rf'(<a href="#{name}">[^<]*</a>) \(Score: [\d.]+ / ([\d.]+)\)', r"\1 (not graded yet, of \2)", page
        )
        own = rf'(<a name="{name}"></a>(?:(?!<a name=).)*?)Score: [\d.]+ / ([\d.]+)'
        page = re.sub(own, r"\1Not graded yet, of \2", page, count=1, flags=re.DOTALL)
    return re.sub(r"(<h4>[^<]*)\(Score: ", r"\1(Score so far: ", page, count=1) if cells else page


# ---------------------------------------------------------------- formgrader

_render, _open = BaseHandler.render, FormgraderHandler.get


def render(self: Any, name: str, **names: Any) -> Any:
    """nbgrader's own, but whatever would act in an id is shown as a question mark.

    nbgrader 0.9.6 writes a student's id into its pages as it is, even if it is only part of an address: a link in a
    student's text to `/formgrader/manage_students/<img ...>` would act with the instructor's rights.
    """
    page = _render(self, name, **{key: _inert(value) if key.endswith("_id") else value for key, value in names.items()})
    return page.replace("</body>", f"{_ONE_NAME}</body>", 1) if isinstance(page, str) else page


# nbgrader's script writes "None" in place of a name that is not there, when the page is open. Who has none has an id.
_ONE_NAME = """<script>
new MutationObserver(() => {
    for (const place of document.querySelectorAll("td.name, td.name a, td.student-name, td.student-name a"))
        if (!place.children.length && /^None, |, None$/.test(place.textContent))
            place.textContent = place.textContent === "None, None"
                ? place.closest("tr").querySelector("td.id, td.student-id").textContent
                : place.textContent.replace(/^None, |, None$/, "");
}).observe(document.body, {childList: true, subtree: true});
</script>"""


def _inert(value: Any) -> Any:
    return ACTS.sub(REPLACEMENT, value) if isinstance(value, str) else value


def open_course(self: Any) -> Any:
    """nbgrader's own for the course that this server was configured for, and 403 for every other path.

    nbgrader would run the `nbgrader_config.py` that it finds there, and a link in a student's text can name any path.
    """
    path, root = self.get_argument("path", ""), Path(self.coursedir.root)
    if path and not _is_same(path, root):
        self.set_status(403)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        return self.finish(
            f"This server shows the course in {root}. For another course, start JupyterLab in its folder."
        )
    self.request.arguments.pop("path", None)  # the course is open already
    return _open(self)


def _is_same(path: str, root: Path) -> bool:
    try:
        return Path(path).resolve() == root.resolve()
    except (OSError, ValueError):
        return False


def exporter(self: Any) -> Page:
    """What makes the page of a submission: as nbgrader's own is set up, for the course that is open now."""
    page: Page = self.settings.setdefault("autograder_page", Page(config=self.settings["nbgrader_exporter"].config))
    page.root = self.coursedir.root
    return page


def make_pages_careful() -> None:
    """From now on formgrader's pages are made by the functions above."""
    BaseHandler.render = render
    FormgraderHandler.get = open_course
    BaseHandler.exporter = property(exporter)
