"""A small edit that repairs a wrong answer shows where to look. It never changes a mark."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.authoring.sample_class import fill, model_answers
from autograder.course.assignments import Course
from autograder.explain.repair.cell import ParsedCell
from autograder.explain.repair.edits import QUESTIONS, edits
from autograder.report import Finding, Report, report_of
from tests.helpers.in_process import COURSE
from tests.helpers.sandboxes import Marker, Sandbox
from tests.helpers.selection import one_in
from tests.helpers.small_course import EXERCISE, NAME, small_course

# A function, and part of what one edit makes of it.
EDITS = {
    "statement": ("def f(x):\n    x = x * 2\n    return x", "def f(x):\n    pass\n    return x"),
    "condition": ("def f(x):\n    if x > 1:\n        x = 1\n    return x", "if False:"),
    "call": ("def f(x):\n    return np.sqrt(x)", "return x"),
    "method": ("def f(x):\n    return x.mean().copy()", "return x.mean()"),
    "sign": ("def f(x):\n    return -(x + 1)", "return (x + 1)"),
    "operand": ("def f(x):\n    return (x + 1) * 2", "return (x + 1)"),
    "subscript": ("def f(x):\n    return x[0].sum()", "return x.sum()"),
    "element": ("def f(x):\n    return x, 1", "return x"),
    "keyword left out": ("def f(x):\n    return x.sum(axis=0, keepdims=True)", "x.sum(axis=0)"),
    "axis": ("def f(x):\n    return x.sum(axis=0)", "x.sum(axis=-1)"),
    "axis by name": ("def f(x, axis=-1):\n    return x.sum(axis=0)", "x.sum(axis=axis)"),
    "two axes": ("def f(x):\n    return x.swapaxes(0, 1)", "x.swapaxes(-2, -1)"),
    "comparison": ("def f(x):\n    return x if x < 1 else 0", "x <= 1"),
    "given or not": ("def f(x, y=None):\n    if y:\n        x = x + y\n    return x", "if y is not None:"),
    "mask": ("def f(x, mask):\n    return np.where(mask, x, 0)", "np.where(~mask, x, 0)"),
    "number": ("def f(x):\n    return x * 2", "x * 1"),
    "bool": ("def f(x):\n    return g(x, keep=True)", "keep=False"),
    "order": ("def f(x, y):\n    return x - y", "return y - x"),
    "arguments": ("def f(x, y):\n    return g(x, y)", "g(y, x)"),
    "order of three": ("def f(x, y, z):\n    return y, z, x", "return x, y, z"),
    "operator": ("def f(x, y):\n    return x * y", "x @ y"),
    "bounds": ("def f(x):\n    return x[1:]", "return x[:]"),
    "range": ("def f(x):\n    return [i for i in range(1, x)]", "range(x)"),
    "index": ("def f(x):\n    return x[:, None]", "x[None, :]"),
    "unpacked": ("def f(x):\n    n, d = x.shape\n    return n", "n, d = x.shape[-2:]"),
    "function": ("def f(x):\n    return np.tril(x)", "np.triu(x)"),
    "in place": ("def f(x):\n    x += 1\n    return x", "x = x + (1)"),
    "result": ("def f(x):\n    x.clip(0)\n    return x", "x = x.clip(0)"),
    "copy": ("def f(x):\n    x[0] = 1\n    return x", "    x = x.copy()\n    x[0] = 1"),
    "keyword": ("def f(x):\n    return x.sum(axis=-1)", "x.sum(axis=-1, keepdims=True)"),
    "name": ("def f(x, y):\n    return x + x", "x + y"),
    "length": ("def f(x, n):\n    return x / n", "x / x.shape[-1]"),
    "attribute": ("class C:\n    def f(self):\n        self.a = self.b = 1\n        return self.a", "return self.b"),
    "target": ("def f(x):\n    y = 1\n    z = x\n    return y", "y = x"),
    "dtype": ("def f(x):\n    return np.zeros(3)", "np.zeros(3, dtype=x.dtype)"),
    "step": ("def f(x, y):\n    return x @ y", "(y.swapaxes(-2, -1))"),
    "length for a formula": ("def f(x, n):\n    return g(2 * n)", "g(x.shape[-1])"),
    "the same call twice": ("def f(x, y):\n    return (x.to(int) @ y.to(int)).to(float)", "return (x @ y).to("),
    "everywhere": ("def f(x):\n    a = x.sum(0)\n    b = x.sum(0)", "a = x.sum(-1)\n    b = x.sum(-1)"),
}  # fmt: skip


@pytest.mark.parametrize("what", EDITS)
def test_each_kind_of_edit_is_tried(what):
    written, wanted = EDITS[what]
    assert any(wanted in text for _, text in edits(ParsedCell(written)))


def test_edits_are_unique_and_keep_the_other_text():
    written = "# mine: ä\ndef f(x):\n    'Ä docstring.'\n    return  x.sum( axis = 0 )   # why?\n"
    found = [text for _, text in edits(ParsedCell(written))]
    assert len(found) == len(set(found))
    assert written not in found
    assert all(text.startswith("# mine: ä\ndef f(x") and text.endswith("# why?\n") for text in found)
    assert "# mine: ä\ndef f(x):\n    'Ä docstring.'\n    return  x.sum( axis = -1 )   # why?\n" in found


def test_brackets_around_nothing_are_edited_like_others():
    assert [*edits(ParsedCell("def f(x):\n    return x[()]"))]


def test_number_that_a_built_in_function_compares_is_no_axis():
    kinds = {edit.kind for edit, _ in edits(ParsedCell("def f(words, most):\n    return words[: max(1, most)]"))}
    assert "number" in kinds
    assert "axis" not in kinds


@pytest.mark.parametrize(
    "guard", ["assert n > 1", "if n < 2:\n        raise ValueError(n)", "if n < 2:\n        return ValueError(n)"]
)
def test_guard_is_never_a_line_too_many(guard):
    """Without it, NumPy may raise the same error, and the task asks for the guard."""
    written = f"def f(x, n):\n    {guard}\n    x = x + 1\n    return x / n"
    found = [(edit.kind, text) for edit, text in edits(ParsedCell(written))]
    assert any(kind == "statement" for kind, _ in found)
    assert not [text for kind, text in found if kind in ("statement", "condition") and "x = x + 1" in text]


def test_deletions_are_tried_first():
    kinds = [edit.kind for edit, _ in edits(ParsedCell("def f(x, y):\n    x = abs(x)\n    return x.sum(axis=0) + y"))]
    assert kinds.index("statement") < kinds.index("operand") < kinds.index("axis") < kinds.index("name")
    assert set(kinds) <= QUESTIONS.keys()


@pytest.mark.slow
@given(st.text(alphabet="abx01.,:;=+-*@()[]{}'\"#\n\t äf", max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_edited_or_refused(text):
    try:
        cell = ParsedCell(f"def f(x):\n    return {text}")
    except (SyntaxError, ValueError):
        return
    for number, (edit, changed) in enumerate(edits(cell)):
        assert changed != cell.source
        assert edit.kind in QUESTIONS
        if number > 500:
            break


# A cell, a line of it that raised, and the lines that therefore have not run.
NOT_RUN = {
    "after it": ("def f(x):\n    x = x * 2\n    y = x\n    return y", 2, [3, 4]),
    "of the same statement": ("def f(x):\n    y = g(x,\n          x)\n    return y", 2, [4]),
    "in a loop": ("def f(x):\n    for y in x:\n        x = y + x\n        y = 1\n    return x", 3, [5]),
    "in a branch": ("def f(x):\n    if x > 1:\n        x = 1\n    return x", 2, [3, 4]),
    "above what called": ("class A:\n    def f(self):\n        return 1\n    def g(self):\n        return 2", 3, []),
    "in no function": ("x = 1\ny = 2", 1, []),
}


@pytest.mark.parametrize("what", NOT_RUN)
def test_lines_after_one_that_raised_are_left_alone(what):
    source, line, not_run = NOT_RUN[what]
    cell = ParsedCell(source)
    assert list(cell.after(line)) == not_run
    kept = [text for edit, text in edits(cell) if edit.lines[0] not in not_run]
    assert [text for _, text in edits(cell, cell.after(line))] == kept


@pytest.fixture(scope="module")
def marker(sandbox, tmp_path_factory):
    course = small_course(tmp_path_factory.mktemp("repair") / "course")
    quick = Sandbox(replace(sandbox.limits, call_seconds=0.5, call_seconds_again=0.2), beside=sandbox)
    yield Marker(Course(course.root).assignment(NAME), quick)
    quick.close()


def graded(marker: Marker, *lines: str, before: str = "") -> Report:
    body = "\n".join(f"    {line}" for line in lines)
    report, _ = marker.mark_cells("sam", [f"import numpy as np\n{before}", f"def {EXERCISE}(X):\n{body}"])
    return report


def place(report: Report) -> Finding | None:
    (result,) = report.exercises
    return result.first("place")


RIGHT = "return X - X.mean(axis=-1, keepdims=True)"


@pytest.mark.slow
def test_students_get_place_and_question_but_not_the_repair(marker):
    report = graded(marker, "# its mean", "mean = X.mean(axis=-1, keepdims=True)", "mean = mean + 1", "return X - mean")
    found = place(report)
    assert found and found.lines == (4,) and found.name == "statement"
    assert found.where.startswith("Look at line 4, `mean = mean + 1`: ")
    assert found.repaired == "# left out"
    (exercise,) = report.to_dict()["exercises"]
    assert exercise["location"]["line"] == 4 and exercise["location"]["kind"] == "statement"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "name", "right", "wrong"),
    one_in(2, [
        (4, "MultiHeadAttention", "self.W_O(heads.flatten(-2))", "self.W_O(heads.flatten(-2)).detach()"),
        (7, "translation_test", "L - margin - shift)", "L - margin + shift)"),
    ]),
    ids=["parameters start random", "calls pass functions"],
)  # fmt: skip
def test_place_is_found_where_no_answer_is_known_beforehand(sandbox, number, name, right, wrong):
    assignment = list(COURSE.assignments.values())[number - 1]
    answers = model_answers(assignment)
    notebook = fill(assignment.released, answers | {name: answers[name].replace(right, wrong)})
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    only = tuple(one for one in assignment.exercises if one.name == name)
    report, _ = Marker(assignment, sandbox).mark_cells("sam", cells, exercises=only)
    line = next(" ".join(line.split()) for cell in cells for line in cell.splitlines() if wrong in line)
    assert line.startswith(place(report).code.removesuffix("..."))


def test_place_of_one_of_two_mistakes_says_that_there_may_be_another(marker):
    """The rounded values cost a test of their own; the axis is wrong only behind a batch axis."""
    report = graded(marker, "mean = X.mean(axis=1, keepdims=True)", "return np.round(X - mean, 1)")
    found = place(report)
    assert found and found.lines == (3,) and not found.is_certain
    assert found.where.startswith("Look at line 3, `return np.round(X - mean, 1)`: ")
    assert found.where.endswith(" It may not be the only line with a mistake.")
    (result,) = report.exercises
    assert not result.correction and {test.name for test in result.tests if test.score} == {"test_shape"}
    assert report_of(report.to_dict()).exercises[0].where == [found.where]
    assert place(graded(marker, "mean = X.mean(axis=1, keepdims=True)", "return X - mean")).is_certain


def test_edit_that_breaks_what_was_right_is_no_place(marker):
    """With 3 or 5 in place of 4, one table has the right axis, and several at once have a wrong one."""
    report = graded(marker, "axis = 2 * X.ndim - 4", "return X - X.mean(axis=axis, keepdims=True)")
    (result,) = report.exercises
    assert {test.name for test in result.tests if test.score} == {"test_shape", "test_batch"}
    assert place(report) is None


def test_right_and_untouched_answers_get_no_place(marker):
    assert place(graded(marker, RIGHT)) is None
    assert place(graded(marker, "raise NotImplementedError")) is None


def test_known_mistake_keeps_its_name_and_gets_no_place(marker):
    (result,) = graded(marker, "return X - X.mean()").exercises
    assert result.first("known mistake") and not result.first("place")


def test_part_that_would_reveal_the_answer_is_not_shown(marker):
    found = place(graded(marker, "mean = X.mean(axis=-1, keepdims=True)", "return mean - X"))
    assert found and found.lines == (3,) and found.part == ""


@pytest.mark.parametrize(
    "trap",
    [
        "while True: pass",
        "import os; os._exit(3)",
        "a = np.ones(2**31)",
        "print('x' * 10**7)",
        "import builtins; builtins.len = builtins.sum = None",
        "import signal, os; os.kill(os.getppid(), signal.SIGKILL)",
        "raise SystemExit",
    ],
)
def test_misbehaving_candidates_do_not_stop_the_search(marker, trap):
    lines = "if X is None:", f"    {trap}", "mean = X.mean(axis=-1, keepdims=True) + 1", "return X - mean"
    report = graded(marker, *lines)
    found = place(report)
    assert report.status == "graded" and not report.exercises[0].of("not produced")
    assert found and found.lines == (4,)


def test_candidates_do_not_share_state(marker):
    """If candidates shared the list, any edit of the last line would pass."""
    lines = "kept.append(1)", "return X - X.mean(axis=-1, keepdims=True) - (len(kept) < 40)"
    found = place(graded(marker, *lines, before="kept = []"))
    assert found is None or "kept" in found.repaired or "True" in found.repaired or "- 0" in found.repaired


def test_lines_that_were_not_reached_use_up_no_edits(marker):
    """There are more edits of them than the search tries, before another name is put into the line that raises."""
    rest = ["print(centred.sum(axis=0), centred.sum(axis=-1))"] * 2
    lines = "mean = X.mean(axis=-1, keepdims=True)", "other = 'mean'", "centred = X - other", *rest, "return centred"
    found = place(graded(marker, *lines))
    assert found and found.lines == (4,) and found.part == "other"


@pytest.mark.slow
def test_endless_code_gets_no_place(marker):
    """Although it would be right without the loop."""
    report = graded(marker, "while len(X.shape) == 2:", "    pass", RIGHT)
    assert report.exercises[0].score < report.exercises[0].max_score
    assert place(report) is None


def test_cell_full_of_guesses_gets_no_place(marker):
    guesses = [f"guess_{n} = X - X.mean(axis=-1, keepdims=True) * {n}.5 - X.sum() * X.std()" for n in range(9)]
    assert place(graded(marker, *guesses, "return guess_0 * 0 + X - X.mean(axis=-1, keepdims=True) + 1")) is None


def test_place_does_not_reveal_sizes_in_hidden_tests(marker):
    """Students must not be able to find out whether a row has five numbers."""
    report = graded(marker, "if X.shape[-1] == 6:", "    return X", RIGHT)
    assert place(report) is None or "5" not in place(report).repaired
