"""A cell that does not run is not "not started yet": what it raised is said, with line and caret, everywhere."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.authoring.sample_class import fill, model_answers
from autograder.report import CellResult
from autograder.reports import plain_text
from autograder.testing import cell_errors
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE
from tests.helpers.kernel import Kernel, seen
from tests.helpers.terminal import autograder

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
        kernel.write("def softmax", "@npp.vectorize\ndef softmax(x, axis=-1):\n    return x")
        kernel._client.execute_interactive("del softmax", timeout=60)
        kernel.run("@npp.vectorize")
        (headline, *_) = seen(kernel.run('check("softmax")')[-1])
        assert "name 'npp' is not defined" in headline
        assert "In line 1" in headline
        kernel.write("@npp.vectorize", model_answers(A1)["softmax"])
        assert "6 of 6 visible tests pass" in seen(kernel.run('check("softmax")')[-1])[0]
    finally:
        kernel.close()


@pytest.mark.slow
def test_grading_says_it_in_json_and_on_the_page(tmp_path):
    path = tmp_path / A1.notebook.name
    nbformat.write(fill(RELEASED, model_answers(A1) | {"softmax": UNCLOSED}), path)
    autograder("grade", path, "--json", tmp_path / "marks.json")
    (report,) = json.loads((tmp_path / "marks.json").read_text())
    found = report["exercises"][0]
    assert not found["started"]
    assert "'(' was never closed" in found["evidence"]


IMPORTS = """import math
import a_library_of_their_own as own
from typing import (
    Optional,
)
from functools import partial"""
MAGIC = '#@title My scores { display-mode: "form" }\n\n%%time\n'


@pytest.mark.slow
def test_cell_that_stops_at_a_library_is_named_and_a_cell_magic_below_a_comment_runs(tmp_path):
    """In both ways to check, an import cell costs what needs it, and the words say so; Colab runs such a magic."""
    answers = model_answers(A1)
    answers["softmax"] = answers["softmax"].replace("axis=-1", "axis: Optional[int] = -1")
    answers["attention_scores"] = MAGIC + answers["attention_scores"]
    last = "torch_scaled_dot_product_attention"
    lines = answers[last].splitlines()
    at = max(number for number, line in enumerate(lines) if line.lstrip().startswith("return"))
    answers[last] = "\n".join([*lines[:at], "    partial(print)", *lines[at:]])
    notebook = fill(RELEASED, answers)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(IMPORTS, id="own"))
    path = tmp_path / A1.notebook.name
    nbformat.write(notebook, path)
    autograder("grade", path, "--json", tmp_path / "marks.json")
    (report,) = json.loads((tmp_path / "marks.json").read_text())
    found = {one["name"]: one for one in report["exercises"]}
    because = (
        "is not there because another cell, which would set it, raised ModuleNotFoundError: No module named "
        "'a_library_of_their_own'. In line 2: `import a_library_of_their_own as own`."
    )
    assert f"`Optional` {because}" in found["softmax"]["evidence"]
    assert f"`partial` {because}" in found[last]["evidence"]
    assert found["attention_scores"]["score"] == found["attention_scores"]["max_score"]
    assert f"`Optional` {because}" in " ".join(autograder("check", path).stdout.split())


def test_magic_in_a_cell_that_raised_is_not_called_a_syntax_error():
    said = cell_errors.why("%%time\nnpp.x", CellResult(error="NameError", text="name 'npp' is not defined"))
    assert said == "not judged, since its cell raised NameError: name 'npp' is not defined."


@pytest.mark.slow
def test_a_helper_that_takes_an_exercises_name_costs_nothing(tmp_path):
    answers = model_answers(A1)
    helper = "def softmax(t, dim=-1):\n    return torch.softmax(t, dim)\n\n\n"
    last = "torch_scaled_dot_product_attention"
    path = tmp_path / A1.notebook.name
    nbformat.write(fill(RELEASED, answers | {last: helper + answers[last]}), path)
    autograder("grade", path, "--json", tmp_path / "marks.json")
    (report,) = json.loads((tmp_path / "marks.json").read_text())
    assert report["score"] == report["max_score"]
    told = next(one["evidence"] for one in report["exercises"] if one["name"] == "softmax")
    assert "def softmax(t, dim=-1):" in told


def test_the_summary_of_a_result_says_that_the_cell_does_not_run():
    from autograder.report import ExerciseResult

    result = ExerciseResult("softmax", (), 4.0, started=False, evidence="not judged, since its cell raised NameError.")
    assert plain_text.summary(result).startswith("softmax: its cell does not run.")
    assert plain_text.notes(result) == ["not judged, since its cell raised NameError."]
