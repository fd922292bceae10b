"""nbgrader's autograde with our marks; everything else is nbgrader's own.

`Autograde` reads untrusted submissions. `RestoreCells` gives every cell of the course its own metadata back, and the
locked ones their text, which is all that nbgrader's `OverwriteCells` does, cell by cell. `Mark` takes the place of
`Execute`: it runs the notebook in the sandbox, and leaves each exercise's points as the result of its check cell, with
the rubric beside it. That is nbgrader's own partial credit. `SaveMarks` and `CheckMetadata` are nbgrader's, with fewer
looks.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.course import CONFIG
from autograder.errors import CourseError
from autograder.nbgrader.autograde import take_autogrades_place
from autograder.nbgrader.database import open_with_fewer_steps
from autograder.nbgrader.due import release_with_due_dates
from autograder.nbgrader.exchange import follow_no_links
from autograder.nbgrader.files import make_feedback_of_pages_alone
from autograder.nbgrader.history import note_manual_grades
from autograder.nbgrader.pages import make_pages_careful
from autograder.nbgrader.preprocessor import Mark
from autograder.nbgrader.quick_steps import CheckMetadata, SaveMarks
from autograder.nbgrader.restore import RestoreCells
from autograder.nbgrader.zip_collect import end_with_who_was_left

__all__ = ["CheckMetadata", "Mark", "RestoreCells", "SaveMarks", "api", "configure"]


def configure(config: Any) -> None:
    """What a course's `nbgrader_config.py` needs: our folders, our reader, our preprocessors in nbgrader's lists."""
    take_autogrades_place()
    open_with_fewer_steps()
    make_pages_careful()
    end_with_who_was_left()
    make_feedback_of_pages_alone()
    follow_no_links()
    release_with_due_dates()
    note_manual_grades()
    config.ZipCollectApp.extractor_plugin = "autograder.nbgrader.zip_collect.Unpacked"
    config.CourseDirectory.release_directory = "assignments"
    # Releases are committed and follow source/; without this nbgrader skips them, and a new gradebook stays empty.
    config.GenerateAssignment.force = True
    config.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
    config.GenerateFeedback.exporter_class = "autograder.nbgrader.pages.Page"
    # A comment, a penalty or a grade of a person's changes a page, though nothing is graded again.
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
        "autograder.nbgrader.SaveMarks",
        "nbgrader.preprocessors.AssignLatePenalties",
        "autograder.nbgrader.CheckMetadata",
    ]


def api(root: Path) -> Any:
    """nbgrader's own interface to the course in `root`, the one behind formgrader's buttons.

    The course's own settings are kept: its database, its penalties for late work.
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


def last_words(result: Mapping[str, object]) -> str:
    """The last line of what nbgrader says of a failure: an exception's own words, without its traceback."""
    lines = [line for line in str(result.get("error") or result.get("log") or "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it does not say why"


def must(result: Mapping[str, object], what: str) -> None:
    """Raises `CourseError` if what was asked of nbgrader did not succeed."""
    if not result["success"]:
        raise CourseError(f"nbgrader could not {what}:\n{result.get('error') or result.get('log')}")
