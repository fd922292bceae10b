"""nbgrader made faster, with the same outcome: fewer engines, SQL statements, transactions and schema checks."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbgrader.api
from jsonschema.validators import validator_for
from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.api import BaseCell, Comment, Grade, Gradebook
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import CheckCellMetadata, NbGraderPreprocessor, SaveAutoGrades
from sqlalchemy.orm import scoped_session, sessionmaker

from autograder.course import CHECK
from autograder.nbgrader.outcomes import SCORES, SET_ASIDE, STORED, answer_in
from autograder.nbgrader.preprocessor import context_in
from autograder.nbgrader.totals import extra_credit
from autograder.text import shown_name


def open_with_fewer_steps() -> None:
    """Patch nbgrader so that a database's engine is made once, and a new database needs no other program.

    nbgrader makes a dozen engines for each submission, and each compiles every statement again, which is half of its
    time. For a new database it runs the program `alembic`, which takes a second and is not found if the environment is
    not on the path.
    """
    # No traceback of a database that fails: the error itself follows, and is reported as the student's reason.
    nbgrader.api.app_log.addFilter(_is_no_rollback)
    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = functools.lru_cache(nbgrader.api.create_engine)
    nbgrader.api.get_alembic_version = newest_tables


def _is_no_rollback(record: Any) -> bool:
    return not record.getMessage().startswith("Rolling back session")


@functools.cache
def newest_tables() -> str:
    """The schema version that nbgrader writes into a new database; `nbgrader db upgrade` reads it."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(nbgrader.api.__file__).parent / "alembic"))
    return str(ScriptDirectory.from_config(config).get_current_head())


@contextlib.contextmanager
def tables_looked_for_once() -> Iterator[None]:
    """Look for a gradebook's tables and its course, and make what is missing, once; nbgrader does so ten times each."""
    begin, opened = Gradebook.__init__, set[tuple[str, str]]()

    def begin_again(self: Any, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
        if (db_url, course_id) not in opened:
            begin(self, db_url, course_id, authenticator)
            opened.add((db_url, course_id))
            return
        self.engine = nbgrader.api.create_engine(db_url, echo=False, future=True)
        self.db = scoped_session(sessionmaker(autoflush=True, bind=self.engine, future=True))
        self.course_id, self.authenticator = course_id, authenticator

    Gradebook.__init__ = begin_again
    try:
        yield
    finally:
        Gradebook.__init__ = begin


class SaveMarks(SaveAutoGrades):
    """`SaveAutoGrades` that looks up a notebook's rows at once and writes them in one transaction.

    nbgrader's own has a query over seven tables, and a transaction, for each cell. It also lets each manual grade wait
    for a person again. Here one stays settled if the answer, its question and the tests' score are the same, or if the
    exercise is withdrawn.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Write the marks of one notebook into the gradebook. Raises `MissingEntry` if it has no row for a cell."""
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = (
            names[key] for key in ("notebook", "assignment", "student")
        )
        with Gradebook(names["db_url"]) as book:
            self.gradebook = _Rows(book, self.notebook_id, self.assignment_id, self.student_id)
            stored = nb.metadata[STORED]
            self._set_aside, self._scores = stored.setdefault(SET_ASIDE, {}), stored.setdefault(SCORES, {})
            nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
            book.db.commit()
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        context = context_in(resources)
        settled = grade.manual_score is not None and not grade.needs_manual_grade
        score, extra = context.set_aside.get(name, (grade.auto_score, grade.extra_credit))
        withdrawn = name.removeprefix(CHECK) in context.assignment.withdrawn
        super()._add_score(cell, resources)
        same = name in context.unchanged or context.earlier.get(name) == answer_in(cell)
        if settled and (withdrawn or (grade.auto_score == score and same)):
            grade.needs_manual_grade = False
        elif grade.manual_score is not None:
            context.notices.append(
                f"{shown_name(self.student_id)}, {self.assignment_id}: {name.removeprefix(CHECK)} has changed since a "
                f"person gave {grade.manual_score:g} points; they count until somebody looks at it again"
            )
        self._scores[name] = grade.auto_score
        grade.extra_credit = extra_credit(grade.manual_score, extra, context.cells[name].points or 0.0, withdrawn)
        if withdrawn:
            self._set_aside[name] = [score, extra]


class _Rows:
    """One notebook's grades and comments by cell, in place of the gradebook that nbgrader asks for each."""

    def __init__(self, book: Gradebook, *names: str) -> None:
        notebook = book.find_submission_notebook(*names).id
        self._book = book
        self._grades, self._comments = (
            {
                name: row
                for row, name in book.db.query(kind, BaseCell.name)
                .join(BaseCell, BaseCell.id == kind.cell_id)
                .filter(kind.notebook_id == notebook)
            }
            for kind in (Grade, Comment)
        )
        self.db = SimpleNamespace(commit=lambda: None)  # one commit for all cells, after the last

    def find_grade(self, cell: str, *names: str) -> Any:
        return self._grades.get(cell) or self._book.find_grade(cell, *names)

    def find_comment(self, cell: str, *names: str) -> Any:
        return self._comments.get(cell) or self._book.find_comment(cell, *names)


class CheckMetadata(CheckCellMetadata):
    """`CheckCellMetadata` that does not validate nbgrader's schema itself again for each cell."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Check one notebook; nbgrader's own step reports what is wrong with it."""
        version, validator = _validator()
        found = [cell.metadata["nbgrader"] for cell in nb.cells if "nbgrader" in cell.metadata]
        if not all(metadata.get("schema_version", 0) == version and validator.is_valid(metadata) for metadata in found):
            super().preprocess(nb, resources)
        return nb, resources


@functools.cache
def _validator() -> tuple[int, Any]:
    """The version of nbgrader's schema, and a validator for it."""
    metadata = MetadataValidator()
    return int(metadata.schema_version), validator_for(metadata.schema)(metadata.schema)
