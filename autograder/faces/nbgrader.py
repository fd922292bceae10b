"""nbgrader's autograde with our marks: two preprocessors, everything else is nbgrader's own.

`RestoreCells` gives every cell of the course its own metadata back, whatever a student did to it, and puts back
cells that are missing. `Mark` takes the place of `Execute`: it runs the notebook in the sandbox, leaves each
exercise's points as the result of its check cell (nbgrader's own partial credit) and the rubric beside it.
"""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from autograder.course import CHECK, Assignment, Exercise, find_course
from autograder.faces import rubric
from autograder.faces.harmless import make_harmless
from autograder.marking.mark import Marker
from autograder.sandbox.client import CellResult, Sandbox
from autograder.submission import code_cells, grade_id

MAX_OUTPUT = 20_000


def configure(config: Any) -> None:
    """What a course's `nbgrader_config.py` needs: our folders, and our preprocessors in nbgrader's lists."""
    config.CourseDirectory.release_directory = "assignments"
    # Releases are committed and follow source/; without this nbgrader skips them, and a new gradebook stays empty.
    config.GenerateAssignment.force = True
    config.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
    config.Autograde.sanitize_preprocessors = [
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.DeduplicateIds",
        "autograder.faces.nbgrader.RestoreCells",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    config.Autograde.autograde_preprocessors = [
        "autograder.faces.nbgrader.Mark",
        "nbgrader.preprocessors.IgnorePattern",
        "nbgrader.preprocessors.LimitOutput",
        "nbgrader.preprocessors.SaveAutoGrades",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]


def api(root: Path) -> Any:
    """nbgrader's own interface to the course in `root`, the one behind formgrader's buttons."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    # nbgrader 0.9.6 makes SQLAlchemy warn about its own session handling, a dozen lines a submission.
    warnings.filterwarnings("ignore", module="nbgrader")
    # nbgrader calls `alembic` by name, which is not on the path where the environment has not been activated.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    config = Config()
    configure(config)
    config.CourseDirectory.root = str(root.resolve())
    return NbGraderAPI(config=config, log_level="ERROR")


class RestoreCells(NbGraderPreprocessor):
    """Metadata of graded cells comes from the gradebook, never from the submission; missing cells come back.

    What a student wrote beside code can be read in a browser afterwards, and does nothing there.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Restore in place."""
        info = resources["nbgrader"]
        with Gradebook(info["db_url"]) as gradebook:
            wanted = _course_cells(gradebook.find_notebook(info["notebook"], info["assignment"]))
        own = find_course(Path(resources["metadata"]["path"])).assignment(info["assignment"])
        make_harmless(nb, own.markdown())
        seen = set()
        for cell in nb.cells:
            name = grade_id(cell)
            cell.metadata.pop("nbgrader", None)
            if name in wanted and name not in seen:
                seen.add(name)
                cell.metadata["nbgrader"] = dict(wanted[name]["metadata"])
        for name, cell in wanted.items():
            if name not in seen and cell["metadata"]["grade"]:
                self.log.warning("Cell '%s' is missing from the submission; it was put back at the end", name)
                nb.cells.append(_new_cell(cell))
        return nb, resources


def _course_cells(notebook: Any) -> dict[str, dict[str, Any]]:
    """The cells nbgrader knows of a released notebook: metadata and source by grade_id."""
    points = {cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]}
    grades = {cell.name for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    cells = {}
    for source in notebook.source_cells:
        metadata = {
            "grade_id": source.name,
            "grade": source.name in grades,
            "solution": source.name in solutions,
            "task": source.name in tasks,
            "locked": source.locked,
            "checksum": source.checksum,
            "cell_type": source.cell_type,
            "schema_version": 3,
        }
        if source.name in points:
            metadata["points"] = points[source.name]
        cells[source.name] = {"metadata": metadata, "source": source.source}
    return cells


def _new_cell(cell: dict[str, Any]) -> NotebookNode:
    make = new_code_cell if cell["metadata"]["cell_type"] == "code" else new_markdown_cell
    return make(source=cell["source"], metadata={"nbgrader": dict(cell["metadata"])})


class Mark(NbGraderPreprocessor):
    """Run the notebook in the sandbox and write marks and rubrics into its check cells."""

    sandbox = Enum(
        ["auto", "bubblewrap", "process"],
        default_value="auto",
        help="bubblewrap: insist on it; process: limits only; auto: bubblewrap, and a warning where it does not work.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Grade one notebook in place."""
        info = resources["nbgrader"]
        course = find_course(Path(resources["metadata"]["path"]))
        marker = _marker(course.assignment(info["assignment"]), self.sandbox)
        if marker.sandbox.warning:
            self.log.warning("Student code runs without a sandbox: %s", marker.sandbox.warning)
        cells = code_cells(nb)
        exercises = _exercises(nb, marker.assignment)
        report, results = marker.mark_cells(info["student"], [cell.source for cell in cells], exercises, pictures=True)
        for cell, result in zip(cells, results, strict=True):
            nb.cells[cell.index].outputs = _cell_outputs(result)
        graded = {CHECK + exercise.name: exercise for exercise in report.exercises}
        for cell in nb.cells:
            if grade_id(cell) in graded and cell.cell_type == "code":
                exercise = graded[grade_id(cell)]
                data = {"text/plain": rubric.points(exercise.score), "text/html": rubric.as_html(exercise)}
                cell.outputs = [new_output("execute_result", data=data, execution_count=None)]
        return nb, resources


def _exercises(nb: NotebookNode, assignment: Assignment) -> list[Exercise]:
    """The course's exercises with the points of the gradebook, which `RestoreCells` put into the cells."""
    points = {grade_id(cell): cell.metadata.nbgrader.get("points") for cell in nb.cells if grade_id(cell)}
    return [Exercise(e.name, points.get(CHECK + e.name, e.points)) for e in assignment.exercises]


def _cell_outputs(result: CellResult) -> list[NotebookNode]:
    """What a student's cell printed, and how it ended: always text, never HTML."""
    outputs = []
    if result.printed:
        outputs.append(new_output("stream", name="stdout", text=result.printed[:MAX_OUTPUT]))
    if result.stopped:
        outputs.append(_error_output("Stopped", result.stopped, []))
    if result.error:
        lines = [f"{function}, line {number}: {text}" for function, number, text in result.error["lines"]]
        outputs.append(_error_output(result.error["kind"], result.error["text"], lines))
    return outputs


def _error_output(name: str, text: str, lines: list[str]) -> NotebookNode:
    return new_output("error", ename=name, evalue=text, traceback=[*lines, f"{name}: {text}"])


# nbgrader makes a preprocessor for each notebook; what is expensive to start lives as long as this process.
_sandboxes: dict[str, Sandbox] = {}
_markers: dict[tuple[Any, ...], Marker] = {}


def _marker(assignment: Assignment, kind: str) -> Marker:
    key = (assignment, kind, assignment.solution.stat().st_mtime_ns, assignment.suite.stat().st_mtime_ns)
    if key not in _markers:
        if kind not in _sandboxes:
            _sandboxes[kind] = Sandbox(kind=kind)
        _markers[key] = Marker(assignment, _sandboxes[kind])
    return _markers[key]


@atexit.register
def _close() -> None:
    for marker in _markers.values():
        marker.close()
    for sandbox in _sandboxes.values():
        sandbox.close()
