"""If a cell raised an exception, reports show it with line and caret instead of "not started yet"."""

from __future__ import annotations

import re

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.judge import cell_errors
from autograder.report import CellResult, ExerciseResult, Finding
from autograder.reports import rubric
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE
from tests.helpers.kernel import Kernel, seen
from tests.helpers.small_course import BUILT, EXERCISE, NAME, command, reports_of, said_by, small_course, submit

pytestmark = pytest.mark.usefixtures("kept_workers")

A1 = COURSE.assignment("a1_scaled_dot_product")
RELEASED = ROOT / "assignments" / A1.name / A1.notebook.name
UNCLOSED = "def softmax(x, axis=-1):\n    return np.exp((x)\n"


def test_syntax_error_is_reported_with_line_and_caret():
    message = cell_errors.why(UNCLOSED, CellResult(error="SyntaxError", text="'(' was never closed (<cell>, line 2)"))
    assert message == (
        "not judged, since its cell raised SyntaxError: '(' was never closed, line 2. "
        "In line 2, where the ^ stands: `return np.exp^((x)`."
    )
    assert cell_errors.why("x = 1", CellResult()) == ""
    message = cell_errors.why("# how long?\n\n%%timeit -n 1\ndef softmax(x): ...", CellResult())
    assert message == "not judged, since its cell begins with `%%timeit`, which sets nothing in the notebook."
    message = cell_errors.why("%%time\nnpp.x", CellResult(error="NameError", text="name 'npp' is not defined"))
    assert message == "not judged, since its cell raised NameError: name 'npp' is not defined."
    result = ExerciseResult("softmax", (), 4.0, started=False, findings=(Finding("cells", evidence=message),))
    assert rubric.summary(result).startswith("softmax: its cell cannot be judged.")
    assert rubric.notes(result) == [message]


BODY = "centred = X - X.mean(axis=-1, keepdims=True)"
LEFT_OVER = f"def {EXERCISE}(X):\n    'Rows.'\n    {BODY}\n    raise NotImplementedError()"


def test_stub_that_is_left_below_an_answer_is_named_with_its_line(tmp_path):
    said = cell_errors.stub_left_in(LEFT_OVER, EXERCISE)
    assert said.startswith("not judged, since line 4 of its cell is still the stub's `raise NotImplementedError()`.")
    assert cell_errors.stub_left_in(f"def {EXERCISE}(X):\n    'Rows.'\n    raise NotImplementedError()", EXERCISE) == ""
    assert cell_errors.stub_left_in(LEFT_OVER, "other") == cell_errors.stub_left_in("def f(:", "f") == ""
    course = small_course(tmp_path / "course")
    notebook = submit(course, "ada", {EXERCISE: LEFT_OVER}).relative_to(course.root)
    assert reports_of(course)["ada"]["exercises"][0]["evidence"] == said
    assert said in " ".join(command(course, "check", notebook, "--course", ".")[1].split())


def test_class_of_stubs_is_not_started_until_a_line_stands_above_one():
    stub = "class Layer:\n    def __init__(self):\n        'Set up.'\n        super().__init__()\n"
    assert cell_errors.stub_left_in(f"{stub}        raise NotImplementedError()", "Layer") == ""
    begun = f"{stub}        self.width = 4\n        raise NotImplementedError()"
    assert "line 6 of its cell is still the stub's" in cell_errors.stub_left_in(begun, "Layer")


@pytest.mark.parametrize("source", ["def f(:\n    pass", "def f():\nreturn 1", "def f(:\\\n", "x = '\x00'"])
def test_any_source_gives_an_error_message_or_none(source):
    assert cell_errors.syntax_error(source) == "" or "raised" in cell_errors.syntax_error(source)


def test_only_the_last_definition_of_a_name_is_reported():
    failed, ran = CellResult(error="NameError", text="name 'npp' is not defined"), CellResult()
    sources = ["npp.x\ndef softmax(x): ...", "def softmax(x): ...", "def soft(x): ..."]
    assert cell_errors.not_there("softmax", [*zip(sources, [failed, ran, failed], strict=True)]) == ""
    assert "name 'npp' is not defined" in cell_errors.not_there("softmax", [(sources[0], failed)])


def test_message_names_which_of_several_definitions_counts():
    sources = ["def softmax(x): ...", "x = 1", "# again\ndef softmax(t, dim): ..."]
    message = "softmax is defined in 2 cells. The last one counts, which has `def softmax(t, dim): ...`."
    assert cell_errors.defined_again("softmax", sources) == message
    assert cell_errors.defined_again("softmax", sources[:2]) == ""


@pytest.mark.slow
def test_check_in_a_kernel_reports_the_syntax_error(tmp_path):
    kernel = Kernel()
    try:
        path = tmp_path / A1.notebook.name
        nbformat.write(nbformat.read(RELEASED, as_version=4), path)
        kernel.open(path)
        kernel.run("from attention_course import")
        kernel.run("def softmax")  # defines the stub
        kernel.write("def softmax", UNCLOSED)
        (headline, *_) = seen(kernel.run('check("softmax")')[-1])
        assert "not started" not in headline
        assert "SyntaxError: '(' was never closed" in headline
        assert "return np.exp^((x)" in headline
        kernel.write("def softmax", model_answers(A1)["softmax"])
        verdict, _ = kernel.run('check("softmax")')  # and a question about the student's own lines
        assert re.search(r"(\d+) of \1 visible tests pass", seen(verdict)[0])
    finally:
        kernel.close()


# ---------------------------------------------------------------- grading, and `autograder check`

RIGHT = f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)\n"
IMPORTS = "import math\nimport missing_library as own\nfrom functools import partial"
MAGIC = '#@title My rows { display-mode: "form" }\n\n%%time\n'
BECAUSE = (
    "`partial` is not there because another cell, which would set it, raised ModuleNotFoundError: No module named "
    "'missing_library'. In line 2: `import missing_library as own`."
)


@pytest.mark.slow
def test_reports_say_which_cell_error_stopped_an_exercise(tmp_path):
    """A syntax error, and an import of a missing library in another cell."""
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
    reports = reports_of(course).values()
    found = {(one["student"], exercise["name"]): exercise for one in reports for exercise in one["exercises"]}
    assert not found["unclosed", EXERCISE]["started"]
    assert "'(' was never closed" in found["unclosed", EXERCISE]["evidence"]
    assert all(BECAUSE in found[student, BUILT]["evidence"] for student in ("unclosed", "library"))
    said_by(course, "report", "marks.json", "--csv", "class.csv")
    report = " ".join(said_by(course, "report", "marks.json").split())
    assert f"has 0 of 6 points; a cell that does not run: {EXERCISE}" in report
    assert report.count("not started") == 1, "only `installs` has not started its second exercise"
    assert f"{NAME},exercise,{EXERCISE},{EXERCISE},2,3,0.6667,2 of 3 points" in (course.root / "class.csv").read_text()
    assert found["installs", EXERCISE]["score"] == 3, "a missing program does not stop a cell"
    assert found["library", EXERCISE]["score"] == 3, "Colab accepts a cell magic below a comment"
    assert BECAUSE in " ".join(command(course, "check", library.relative_to(course.root), "--course", ".")[1].split())


FROM_ELSEWHERE = {
    # a line in front of the function, a line in it, and words of the report
    "debugger": ("", "import pdb; pdb.set_trace()", "stopped in a debugger, which nobody answers when grading"),
    "breakpoint": ("", "breakpoint()", "A debugger is left in line 3 of a cell: `breakpoint()`."),
    "debugger above": ("breakpoint()", "", "its cell stopped in a debugger"),
    "typed": ("n = int(input())", "", "Nobody types when grading"),
    "typed in a call": ("", "input('width? ')", "Nobody types when grading"),
    "f-string": ("name = 'x'; print(f\"{'a' if name == \"x\" else 'b'}\")", "", "Grading runs Python 3.11; a newer"),
    "type": ("type Rows = list", "", "Grading runs Python 3.11; a newer"),
    "generic": ("def first[T](rows: T) -> T:\n    return rows", "", "Grading runs Python 3.11; a newer"),
}


@pytest.mark.slow
def test_reports_say_what_grading_lacks(tmp_path):
    """Nobody types, no debugger is answered, and Python is not the newest."""
    course = small_course(tmp_path / "course")
    for number, (above, inside, _) in enumerate(FROM_ELSEWHERE.values()):
        body = RIGHT.replace("    return", f"    {inside or 'pass'}\n    return")
        path = submit(course, f"s{number}", {EXERCISE: f"{above}\n{body}"})
        notebook = nbformat.read(path, as_version=4)
        notebook.metadata["language_info"] = {"name": "python", "version": "3.99.1"}
        nbformat.write(notebook, path)
    reports = reports_of(course)
    for number, (what, (*_, words)) in enumerate(FROM_ELSEWHERE.items()):
        (exercise,) = reports[f"s{number}"]["exercises"]
        said = " ".join([exercise["evidence"], *(test["message"] for test in exercise["tests"])])
        assert words in said, what
        notices = " ".join(reports[f"s{number}"].get("notices", []))
        assert ("ran with Python 3.99.1" in notices) == ("Grading runs" in words)


@pytest.mark.slow
def test_missing_name_may_come_from_a_cell_that_failed(tmp_path):
    course = small_course(tmp_path / "course")
    cells = {
        "star": (
            "from missing_library import *",
            "rearrange(X)",
            "`rearrange` is not there, and another cell with `impor",
        ),
        "type": ("type Array = list", "Array()", "`Array` is not there because another cell, which would set it, rais"),
        "none": ("1 / 0", "rearrange(X)", ""),
    }
    for student, (above, inside, _) in cells.items():
        path = submit(course, student, {EXERCISE: RIGHT.replace("    return", f"    {inside}\n    return")})
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.insert(0, nbformat.v4.new_code_cell(above, id="own"))
        nbformat.write(notebook, path)
    for student, report in reports_of(course).items():
        evidence, words = report["exercises"][0]["evidence"], cells[student][2]
        assert words in evidence if words else not evidence
