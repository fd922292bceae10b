"""Notebooks with nbgrader's own graded test cells get the marks that nbgrader gives."""

from __future__ import annotations

import shutil
from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.cli.grading import find_submissions
from autograder.course.assignments import Course
from autograder.course.source_notebook import AssertCell, as_released
from autograder.judge.assert_cells import credit
from autograder.task import as_task
from tests.courses.algorithms import FULL, RIGHT, SORTING
from tests.courses.classic import classic_course, submit

NAME = "sorting"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return classic_course(tmp_path_factory.mktemp("classic") / "course", **{NAME: SORTING})


@pytest.fixture
def course(original, tmp_path):
    return Course(shutil.copytree(original.root, tmp_path / "course"))


# ---------------------------------------------------------------- in the sandbox


@pytest.fixture(scope="module")
def mark(original, sandbox):
    """See `marking`."""
    return marking(original, sandbox)


def marking(course, sandbox):
    """A function that grades a submission: points and message by exercise, and everything that its cells print."""
    worker, assignment = sandbox.worker(course), course.assignment(NAME)
    worker.limits = replace(worker.limits, cell_seconds=2.0, memory=300 * 2**20)

    def marked(student, change=lambda cells: None, **answers):
        path = submit(course, NAME, student, change, **RIGHT | answers)
        (one,) = find_submissions([path], course)
        task = as_task(one, assignment, assignment.version)
        found = worker.mark(replace(task, for_page=student.startswith("page")))
        assert not found.report.reason
        results = {e.name: (e.score, e.tests[0].message) for e in found.report.exercises}
        return results, "".join(cell.printed + cell.text for cell in found.cells)

    return marked


@pytest.mark.slow
def test_crash_timeout_and_memory_error_cost_only_their_cells(mark):
    results, _ = mark("right")
    assert {name: score for name, (score, _) in results.items()} == {
        n.removeprefix("test-"): s for n, s in FULL.items()
    }
    results, _ = mark(
        "disasters",
        middle="def middle(numbers):\n    import os\n    if len(numbers) % 2 == 0: os.abort()\n    return 2",
        longest="def longest(words):\n    import time\n    time.sleep(1000)",
        keep="def keep(path, words):\n    return [0] * 10**10",
    )
    assert {name: score for name, (score, _) in results.items() if score} == {"middle-odd": 2, "search": 4}
    assert results["middle-even"] == (0, "it ended the Python process")
    assert results["longest"] == (0, "it ran out of time and was stopped")
    assert results["files"][1].startswith("MemoryError")


@pytest.mark.slow
def test_hidden_lines_are_not_revealed(mark):
    """Even if a later cell searches for them: printed output comes from a run with the released tests."""

    def search(cells):
        cells.append(
            new_code_cell(
                "import linecache, gc\nname = 'SECRET' + '_NUMBERS'\nprint('looked', globals().get(name))\n"
                "print([k for k in gc.get_objects() if isinstance(k, dict) and name in k])\n"
                "print([line for _, _, lines, _ in filter(lambda e: len(e) == 4, linecache.cache.values())"
                " for line in lines if name in line])"
            )
        )

    results, printed = mark("page-looks", search, middle="def middle(numbers):\n    return len(numbers) / 2 + 0.5")
    assert results["middle-even"] == (0, "What if there are two in the middle?")
    assert "looked None\n[]\n[]" in printed
    results, _ = mark("raises", middle="def middle(numbers):\n    raise ValueError(f'{sum(numbers)} words')")
    assert results["middle-odd"][1].startswith("ValueError: 6 words (in `assert middle([3, 1, 2]) == 2")


@pytest.mark.slow
def test_forged_results_earn_nothing(mark):
    """Results sent before a test, a notebook that drops asserts, and a process that exits with status 0."""
    wrong = "def middle(numbers):\n    return 0\n"
    sends = (
        "import os, struct\nfrom cellcage.protocol import frames, messages\n"
        "for fd in range(3, 40):\n    for _ in range(8):\n        try:\n"
        "            os.write(fd, frames.framed(frames.body(messages.CellOutput())))\n        except Exception: pass\n"
    )
    drops = (
        "import ast\nclass Drop(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Drop())\n"
    )
    for name, more in {"sends": sends, "drops": drops, "ends": "import os\nos._exit(0)\n"}.items():
        results, _ = mark(
            name, middle=f"{wrong}try:\n" + "".join(f"    {x}\n" for x in more.splitlines()) + "except Exception: pass"
        )
        assert results["middle-odd"][0] == results["middle-even"][0] == 0, name


WRONG = "def middle(numbers):\n    {}\n    return 0\n"
STOPPED = {  # ways to cheat or to do harm
    "course files": "return len(open({course!r}).read()) and sorted(numbers)[len(numbers) // 2]",
    "network": (
        "import socket\n    for port in range(20, 30):\n        socket.create_connection(('127.0.0.1', port), 0.1)\n"
        "    return sorted(numbers)[len(numbers) // 2]"
    ),
    "flood": "print('x' * 10**7)\n    raise ValueError('y' * 10**7)",
}


@pytest.mark.slow
def test_sandbox_stops_reading_network_and_floods(mark, original):
    course = str(original.root / "source" / NAME / f"{NAME}.ipynb")
    for name, body in STOPPED.items():
        results, printed = mark(name, middle=WRONG.format(body.replace("{course!r}", repr(course))))
        assert results["middle-odd"][0] == results["middle-even"][0] == 0, name
        assert sum(score for score, _ in results.values()) == sum(FULL.values()) - 5
        assert max(len(message) for _, message in results.values()) < 1000
        assert len(printed) < 100_000


@pytest.mark.slow
def test_ready_made_function_fails_assert_cells(course, sandbox):
    """Only in student code: the asserts may call it."""
    own = course.root / "algorithms_course" / "course.toml"
    own.parent.mkdir()
    own.write_text('ready_made = ["softmax"]\n')
    source = course.assignment(NAME).notebook
    source.write_text(
        source.read_text().replace("right = sum(", "import torch; torch.ones(2).softmax(0); right = sum(")
    )
    mark = marking(Course(course.root), sandbox)
    head, body = RIGHT["middle"].split(":\n", 1)
    answer = f"{head}:\n    import torch\n    torch.ones(2).softmax(0)\n{body}"
    results, _ = mark("uses", middle=answer)
    assert {name for name, (score, _) in results.items() if not score} == {"middle-odd", "middle-even"}, results
    assert "calls the ready-made `softmax`" in results["middle-odd"][1]


LOOKING = """
#% code
import torch
import torch.nn.functional as F

#% solution attend
def attend(q, k, v):
    ### BEGIN SOLUTION
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
    ### END SOLUTION

#% tests test-attend 5
q = torch.rand(2, 4, 8)
assert attend(q, q, q).shape == (2, 4, 8)

#% tests compared 5
def same(one, other):
    return torch.allclose(one(q, q, q), other(q, q, q), atol=1e-5)
assert same(attend, F.scaled_dot_product_attention)
assert torch.allclose(F.scaled_dot_product_attention(q, q, q), attend(q, q, q), atol=1e-5)
layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
assert layer(attend(q, q, q), q, q)[0].shape == torch.func.vmap(attend)(q, q, q).shape
assert F.scaled_dot_product_attention(q, q, attend(q, q, q)).isfinite().all()
"""
READY_MADE = {
    "alias": "attend = F.scaled_dot_product_attention",
    "imported": "from torch.nn.functional import scaled_dot_product_attention as attend",
    "partial": "from functools import partial\nattend = partial(F.scaled_dot_product_attention, is_causal=False)",
    "module": "class Attend(torch.nn.Module):\n    forward = staticmethod(F.scaled_dot_product_attention)\n"
    "attend = Attend()",
    "vmap": "attend = torch.func.vmap(F.scaled_dot_product_attention)",
    "TorchScript": "attend = torch.jit.script(F.scaled_dot_product_attention)",
    "TorchScript in a function": "@torch.jit.script\ndef look(q, k, v):\n"
    "    return torch.nn.functional.scaled_dot_product_attention(q, k, v)\n"
    "def attend(q, k, v):\n    return look(q, k, v)",
}
BY_HAND = "torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1) @ v"
OWN = {
    "function": f"def attend(q, k, v):\n    return {BY_HAND}",
    "decorated": f"@torch.no_grad()\ndef attend(q, k, v):\n    return {BY_HAND}",
    "partial": f"from functools import partial\ndef look(q, k, v):\n    return {BY_HAND}\nattend = partial(look)",
    "module": f"class Attend(torch.nn.Module):\n    def forward(self, q, k, v):\n        return {BY_HAND}\n"
    "attend = Attend()",
    "refuses the close watch": "from torch.utils._python_dispatch import _get_current_dispatch_mode\n"
    f"def attend(q, k, v):\n    if _get_current_dispatch_mode():\n        raise RuntimeError\n    return {BY_HAND}",
}


@pytest.mark.slow
def test_other_name_of_a_ready_made_function_fails_assert_cells(sandbox, tmp_path):
    """And the asserts may call it themselves, beside a right answer."""
    course = classic_course(tmp_path, looking=LOOKING)
    own = course.root / "algorithms_course" / "course.toml"
    own.parent.mkdir()
    own.write_text('ready_made = ["scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu", '
                   '"_scaled_dot_product_attention_math", "_safe_softmax"]\n')  # fmt: skip
    course = Course(course.root)
    worker, assignment = sandbox.worker(course), course.assignment("looking")
    for answers, points in ((READY_MADE, 0), (OWN, 10)):
        for number, (way, answer) in enumerate(answers.items()):
            path = submit(course, "looking", f"x{points}-{number}", attend=answer)
            (one,) = find_submissions([path], course)
            report = worker.mark(as_task(one, assignment, assignment.version)).report
            assert report.score == points, (way, report)


# ---------------------------------------------------------------- messages

CELL = AssertCell(
    "odd",
    """\
value = 3
### BEGIN HIDDEN TESTS
secret = [40, 10]
assert middle(secret) == 25
assert middle(secret) == 25, f"not {secret}"
assert middle(secret) == 25, "What of two?"
check(secret)
### END HIDDEN TESTS
assert value == 4
""",
    frozenset(),
)


@pytest.mark.parametrize(
    ("kind", "text", "line", "said"),
    [
        ("AssertionError", "", 9, "`assert value == 4` does not hold."),
        ("AssertionError", "too small", 9, "too small"),
        ("ValueError", "no secret = [40, 10] here", 1, "ValueError: no (hidden) here (in `value = 3`)"),
        ("AssertionError", "", 4, "A hidden test does not hold."),
        ("AssertionError", "what a student's own assert says", 6, "What of two?"),
    ],
)
def test_message_about_hidden_line_is_the_authors_text(kind, text, line, said):
    assert CELL.message(kind, text, line, hides=True) == said


def test_released_cell_has_no_hidden_lines():
    assert as_released(CELL.source) == "value = 3\nassert value == 4"


@pytest.mark.parametrize(
    ("shown", "points"),
    [("", 4), ("2.5", 2.5), ("7", 4), ("-1", 4), ("nan", 4), ("1 / 3", 4)],
)
def test_partial_credit_is_read_as_nbgrader_does(shown, points):
    """Except for more than all points: nbgrader stops with an error, we give all points."""
    from nbgrader.utils import determine_grade

    assert credit(shown, 4.0) == points
    if shown and shown != "7":
        output = {"output_type": "execute_result", "data": {"text/plain": shown}, "metadata": {}, "execution_count": 1}
        data = {"grade": True, "solution": False, "points": 4, "grade_id": "a"}
        cell = new_code_cell("", metadata={"nbgrader": data}, outputs=[nbformat.from_dict(output)])
        assert determine_grade(cell) == (points, 4.0)
