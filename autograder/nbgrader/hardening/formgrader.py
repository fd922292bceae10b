"""formgrader: its pages, which open with the instructor's rights, and the grades that are entered there."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from nbgrader.server_extensions.formgrader.apihandlers import GradeHandler
from nbgrader.server_extensions.formgrader.base import BaseHandler
from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler

from autograder.course.assignments import course_at
from autograder.discovery import ACTS
from autograder.errors import AutograderError
from autograder.nbgrader import history
from autograder.nbgrader.pages import Page
from autograder.nbgrader.totals import assign_penalty, count_manual_score
from autograder.text import REPLACEMENT

_render, _open, _put = BaseHandler.render, FormgraderHandler.get, GradeHandler.put


def render(self: Any, name: str, **names: Any) -> Any:
    """nbgrader's own, with a question mark in place of each active character in an id.

    nbgrader 0.9.6 writes a student's id into its pages unescaped, even if it is only part of an address. So a link in a
    student's text to `/formgrader/manage_students/<img ...>` would act with the instructor's rights.
    """
    page = _render(self, name, **{key: _inert(value) if key.endswith("_id") else value for key, value in names.items()})
    return page.replace("</body>", f"{_ONE_NAME}</body>", 1) if isinstance(page, str) else page


# When the page is open, nbgrader's script writes "None" where a name is missing. This shows the id instead.
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
    """nbgrader's own for the course that this server was configured for, and 403 for any other path.

    nbgrader would run the `nbgrader_config.py` at that path, and a link in a student's text can name any path.
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
    """The exporter for a submission's page: configured like nbgrader's own, for the course that is open now."""
    page: Page = self.settings.setdefault("autograder_page", Page(config=self.settings["nbgrader_exporter"].config))
    page.root = self.coursedir.root
    return page


def record_manual_grade(self: Any, grade_id: str) -> None:
    """formgrader's own; then the total is computed again, and a history entry names who has given the grade."""
    _put(self, grade_id)
    grade = self.gradebook.find_grade_by_id(grade_id)
    with contextlib.suppress(AutograderError):
        assignment = course_at(Path(self.coursedir.root)).assignment(grade.assignment.name)
        count_manual_score(grade, assignment)
        self.gradebook.db.commit()
        assign_penalty(self.api, grade.student.id, assignment)
    with contextlib.suppress(OSError, AutograderError):  # the grade is entered; a later entry will contain it
        history.record(self.coursedir, grade.assignment.name, grade.student.id, history.BY_HAND)
