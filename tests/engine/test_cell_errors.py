"""A cell that does not run is not "not started yet": what it raised is said, with line and caret, everywhere."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.report import CellResult, ExerciseResult
from autograder.reports import plain_text
from autograder.testing import cell_errors
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE
from tests.helpers.kernel import Kernel, seen
from tests.helpers.small_course import BUILT, EXERCISE, command, said_by, small_course, submit

A1 = COURSE.assignment("a1_scaled_dot_product")
RELEASED = ROOT / "assignments" / A1.name / A1.notebook.name
UNCLOSED = "def softmax(x, axis=-1):\n    return np.exp((x)\n"


def test_a_syntax_error_is_told_with_line_and_caret():
    said = cell_errors.why(UNCLOSED, CellResult(error="SyntaxError", text="'(' was never closed (<cell>, line 2)"))
    assert said == (
        "not judged, since its cell raised SyntaxError: '(' was never closed, line 2. "
        "In line 2, where the ^ stands: `return np.exp^((x)`."
    )
    assert cell_errors.why("x = 1", CellResult()) == ""
    said = cell_errors.why("%%time\nnpp.x", CellResult(error="NameError", text="name 'npp' is not defined"))
    assert said == "not judged, since its cell raised NameError: name 'npp' is not defined."
    result = ExerciseResult("softmax", (), 4.0, started=False, evidence=said)
    assert plain_text.summary(result).startswith("softmax: its cell does not run.")
    assert plain_text.notes(result) == [said]


@pytest.mark.parametrize("source", ["def f(:\n    pass", "def f():\nreturn 1", "def f(:\\\n", "x = '\x00'"])
def test_whatever_is_in_a_cell_is_told_or_nothing_is(source):
    assert cell_errors.syntax_error(source) == "" or "raised" in cell_errors.syntax_error(source)


def test_only_the_last_cell_that_defines_the_name_counts():
    failed, ran = CellResult(error="NameError", text="name 'npp' is not defined"), CellResult()
    sources = ["npp.x\ndef softmax(x): ...", "def softmax(x): ...", "def soft(x): ..."]
    assert cell_errors.of_names(["softmax"], sources, [failed, ran, failed]) == {}
    assert "name 'npp' is not defined" in cell_errors.of_names(["softmax"], sources[:1], [failed])["softmax"]


def test_which_of_several_definitions_counts_is_told():
    sources = ["def softmax(x): ...", "x = 1", "# again\ndef softmax(t, dim): ..."]
    told = "softmax is defined in 2 cells. The last one counts, which has `def softmax(t, dim): ...`."
    assert cell_errors.defined_again("softmax", sources) == told
    assert cell_errors.defined_again("softmax", sources[:2]) == ""


@pytest.mark.slow
def test_in_a_kernel_the_check_says_what_is_wrong_with_the_cell(tmp_path):
    kernel = Kernel()
    try:
        path = tmp_path / A1.notebook.name
        nbformat.write(nbformat.read(RELEASED, as_version=4), path)
        kernel.open(path)
        kernel.run("from attention_course import")
        kernel.run("def softmax")  # the stub, which is there from now on
        kernel.write("def softmax", UNCLOSED)
        (headline, *_) = seen(kernel.run('check("softmax")')[-1])
        assert "not started" not in headline
        assert "SyntaxError: '(' was never closed" in headline
        assert "return np.exp^((x)" in headline
        kernel.write("def softmax", model_answers(A1)["softmax"])
        assert re.search(r"(\d+) of \1 visible tests pass", seen(kernel.run('check("softmax")')[-1])[0])
    finally:
        kernel.close()


# ---------------------------------------------------------------- graded, and checked from a terminal

RIGHT = f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)\n"
IMPORTS = "import math\nimport a_library_of_their_own as own\nfrom functools import partial"
MAGIC = '#@title My rows { display-mode: "form" }\n\n%%time\n'
BECAUSE = (
    "`partial` is not there because another cell, which would set it, raised ModuleNotFoundError: No module named "
    "'a_library_of_their_own'. In line 2: `import a_library_of_their_own as own`."
)


@pytest.mark.slow
def test_grading_and_the_command_say_why_an_exercise_is_not_judged(tmp_path):
    """A cell that does not close, and one that stops at a library."""
    course = small_course(tmp_path / "course", second=True)
    at_call = f"def {BUILT}(X):\n    partial(print)\n    return 2 * {EXERCISE}(X)"
    unclosed = submit(course, "unclosed", {EXERCISE: RIGHT.replace("return ", "return ("), BUILT: at_call})
    defined = at_call.replace("(X)", "(X, *more: partial)", 1)
    library = submit(course, "library", {EXERCISE: MAGIC + RIGHT, BUILT: defined})
    installs = f"!pip install einops\n%pip install -q einops\n!echo done\nfiles = !ls\n{RIGHT}"
    submit(course, "installs", {EXERCISE: installs})
    for path in (unclosed, library):
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.insert(0, nbformat.v4.new_code_cell(IMPORTS, id="own"))
        nbformat.write(notebook, path)
    said_by(course, "grade", "submitted", "--json", "marks.json")
    reports = json.loads((course.root / "marks.json").read_text())
    found = {(one["student"], exercise["name"]): exercise for one in reports for exercise in one["exercises"]}
    assert not found["unclosed", EXERCISE]["started"]
    assert "'(' was never closed" in found["unclosed", EXERCISE]["evidence"]
    assert all(BECAUSE in found[student, BUILT]["evidence"] for student in ("unclosed", "library"))
    assert found["installs", EXERCISE]["score"] == 3, "a program that is not there stops no cell of a notebook"
    assert found["library", EXERCISE]["score"] == 3, "Colab runs a cell magic below a comment"
    assert BECAUSE in " ".join(command(course, "check", library.relative_to(course.root))[1].split())
