"""nbgrader with our marks. What differs from nbgrader's own is in `_patch_nbgrader` and in `configure`.

`Autograde` reads untrusted submissions. `RestoreCells` gives each cell of the course its own metadata back, and the
locked ones their text; nbgrader's `OverwriteCells` does only that, cell by cell. `Mark` replaces `Execute`: it runs the
notebook in the sandbox, and writes each exercise's points as the result of its check cell, with the rubric beside it.
nbgrader takes that as partial credit. `SaveMarks` keeps settled manual grades.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbgrader.api
import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.apps.generatefeedbackapp
import nbgrader.apps.zipcollectapp
import nbgrader.converters.base
import nbgrader.nbgraderformat.common
import nbgrader.utils
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from nbgrader.apps.dbapp import DbAssignmentAddApp
from nbgrader.apps.exportapp import ExportApp
from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades, SaveCells
from nbgrader.server_extensions.formgrader.apihandlers import GradeHandler
from nbgrader.server_extensions.formgrader.base import BaseHandler
from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler

from autograder.course.assignments import CONFIG
from autograder.errors import CourseError
from autograder.nbgrader import due, release, totals
from autograder.nbgrader.autograde import Autograde
from autograder.nbgrader.feedback import GenerateFeedback
from autograder.nbgrader.hardening import formgrader, timestamps
from autograder.nbgrader.hardening.files import init_notebooks, remove_tree, source_assignments, submitted_students
from autograder.nbgrader.hardening.restore import RestoreCells
from autograder.nbgrader.kept_times import process_extracted_files, transfer_files
from autograder.nbgrader.preprocessor import Mark, SaveMarks

_open = nbgrader.api.Gradebook.__init__

__all__ = ["Mark", "RestoreCells", "SaveMarks", "api", "configure"]


def _patch_nbgrader() -> None:
    """Replace the parts of nbgrader that no setting changes. Each replacement says what it does differently."""
    # No traceback of a database that fails: the error itself follows, and is reported as the student's reason.
    nbgrader.api.app_log.addFilter(_is_no_rollback)
    # nbgrader opens the gradebook a dozen times for each submission, with an engine and a look for each table.
    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = functools.lru_cache(nbgrader.api.create_engine)
    nbgrader.api.Gradebook.__init__ = _open_gradebook
    # And for each cell it validates its own schema, too.
    nbgrader.nbgraderformat.common.jsonschema = SimpleNamespace(validate=_validate)
    nbgrader.api.get_alembic_version = _newest_tables
    nbgrader.apps.api.Autograde = nbgrader.apps.autogradeapp.Autograde = Autograde
    nbgrader.apps.api.GenerateFeedback = nbgrader.apps.generatefeedbackapp.GenerateFeedback = GenerateFeedback
    nbgrader.converters.base.BaseConverter.init_notebooks = init_notebooks
    nbgrader.converters.base.rmtree = nbgrader.apps.zipcollectapp.rmtree = remove_tree
    BaseHandler.render = formgrader.render
    BaseHandler.exporter = property(formgrader.exporter)
    FormgraderHandler.get = formgrader.open_course
    GradeHandler.put = formgrader.record_manual_grade
    ZipCollectApp.process_extracted_files = process_extracted_files
    ZipCollectApp._transfer_files = transfer_files
    GenerateAssignment.init_single_notebook_resources = release.resources_of_release
    GenerateAssignment.start = release.generate
    ExportApp.start = totals.export_after_penalties
    CourseDirectory.get_existing_timestamp = timestamps.existing_timestamp
    nbgrader.apps.api.NbGraderAPI.get_source_assignments = source_assignments
    nbgrader.apps.api.NbGraderAPI.get_submitted_students = submitted_students
    nbgrader.apps.api.NbGraderAPI.get_submitted_timestamp = timestamps.submitted_timestamp
    nbgrader.utils.parse_utc = timestamps.parse_utc  # of due dates
    DbAssignmentAddApp.start = due.add_assignment


_known = set[tuple[object, str]]()  # engines and courses whose tables exist, unless the database was removed since


def _open_gradebook(self: Any, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
    """nbgrader's own the first time, and if the database was removed since: then it makes the tables again."""
    engine = nbgrader.api.create_engine(db_url, echo=False, future=True)
    if (engine, course_id) not in _known or not nbgrader.api.inspect(engine).get_table_names():
        _open(self, db_url, course_id, authenticator)
        _known.add((engine, course_id))
        return
    self.engine, self.course_id, self.authenticator = engine, course_id, authenticator
    self.db = nbgrader.api.scoped_session(nbgrader.api.sessionmaker(autoflush=True, bind=engine, future=True))


def _validate(data: Any, schema: dict[str, Any]) -> None:
    """Raises `ValidationError` if a cell's metadata are not as nbgrader's schema says."""
    if error := best_match(validator_for(schema)(schema).iter_errors(data)):
        raise error


def _is_no_rollback(record: Any) -> bool:
    return not record.getMessage().startswith("Rolling back session")


def _newest_tables() -> str:
    """nbgrader's own starts the program `alembic`, which is not found if the environment is not on the path."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(nbgrader.api.__file__).parent / "alembic"))
    return str(ScriptDirectory.from_config(config).get_current_head())


def configure(config: Any) -> None:
    """Set what a course's `nbgrader_config.py` needs: our folders, reader and preprocessors."""
    _patch_nbgrader()
    config.ZipCollectApp.extractor_plugin = "autograder.systems.unpack.Unpacked"
    config.ExportApp.plugin_class = "autograder.nbgrader.gradebook_export.Totals"
    config.ExchangeFactory.collect = "autograder.nbgrader.hardening.exchange.Collect"
    config.ExchangeFactory.release_feedback = "autograder.nbgrader.hardening.exchange.ReleaseFeedback"
    config.ExchangeFactory.release_assignment = "autograder.nbgrader.release.ReleaseAssignment"
    config.CourseDirectory.release_directory = "assignments"
    # Releases are committed and follow source/; without this nbgrader skips them, and a new gradebook stays empty.
    config.GenerateAssignment.force = True
    config.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
    config.GenerateFeedback.exporter_class = "autograder.nbgrader.pages.Page"
    config.GenerateFeedback.preprocessors = _with(GenerateFeedback, GetGrades, totals.ShownGrades)
    config.GenerateAssignment.preprocessors = [
        release.ShowHelp,
        *_with(GenerateAssignment, SaveCells, release.SavePoints),
    ]
    # A person's comment, penalty or grade changes a page although nothing is graded again.
    config.GenerateFeedback.force = True
    config.Autograde.sanitize_preprocessors = [
        "autograder.nbgrader.RestoreCells",
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.OverwriteKernelspec",
    ]
    config.Autograde.autograde_preprocessors = [
        "autograder.nbgrader.Mark",
        "nbgrader.preprocessors.IgnorePattern",
        "nbgrader.preprocessors.LimitOutput",
        "nbgrader.preprocessors.CheckCellMetadata",  # before anything is written into the gradebook
        "autograder.nbgrader.SaveMarks",
        "nbgrader.preprocessors.AssignLatePenalties",
    ]


def _with(converter: Any, replaced: type, ours: type) -> list[type]:
    """A converter's preprocessors, with ours in place of one of nbgrader's."""
    return [ours if kind is replaced else kind for kind in converter.preprocessors.default()]


def api(root: Path) -> Any:
    """nbgrader's own interface to the course in `root`, the one behind formgrader's buttons.

    The course's own settings apply: its database, its penalties for late work.
    """
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    # nbgrader 0.9.6 makes SQLAlchemy warn about its own session handling, a dozen lines a submission.
    warnings.filterwarnings("ignore", module="nbgrader")
    if str(root.resolve()) not in sys.path:
        sys.path.append(str(root.resolve()))  # for plugins beside the configuration, as nbgrader's commands find them
    config = Config()
    configure(config)
    if (root / CONFIG).is_file():
        config.merge(PyFileConfigLoader(CONFIG, path=str(root)).load_config())
    config.CourseDirectory.root = str(root.resolve())
    return NbGraderAPI(config=config, log_level="ERROR")


def error_line(result: Mapping[str, object]) -> str:
    """The last line that nbgrader prints about a failure: the exception's message, without its traceback."""
    said = f"{result.get('log') or ''}\n{result.get('error') or ''}"
    lines = [line for line in said.splitlines() if line.strip() and "above traceback" not in line]
    return lines[-1].strip() if lines else "it does not say why"


def must(result: Mapping[str, object], what: str) -> None:
    """Raises `CourseError` if nbgrader did not succeed. `what`: what it was asked to do."""
    if not result["success"]:
        raise CourseError(f"nbgrader could not {what}:\n{result.get('error') or result.get('log')}")
