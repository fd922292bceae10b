"""PyTorch's ready-made attention in an exercise is noticed under any name and earns nothing; elsewhere it is fine."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from autograder.authoring.sample_class import model_answers
from autograder.content import sandbox_setting
from autograder.course import Course
from autograder.judge.display_cells import display_cells
from autograder.judge.self_checks import answer_in_cell, answered_in
from cellcage.inside.removal import remove_forbidden
from cellcage.inside.shell import stand_in
from cellcage.protocol.calls import Call, Reply
from cellcage.protocol.messages import Forbidden
from tests.conftest import ROOT
from tests.helpers.calls import ask
from tests.helpers.sandboxes import Marker
from tools.find_ready_made import Suspect, _of_some

NAME = "torch_scaled_dot_product_attention"
WEIGHTS = "    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)\n"
CALLS = {
    "functional": "F.scaled_dot_product_attention(query, key, value)",
    "full name": "torch.nn.functional.scaled_dot_product_attention(query, key, value)",
    "renamed": "sdpa(query, key, value)",
    "from C": "torch._C._nn.scaled_dot_product_attention(query, key, value)",
    "from the operators": "torch.ops.aten.scaled_dot_product_attention(query, key, value)",
    "by getattr": "getattr(F, 'scaled_dot' + '_product_attention')(query, key, value)",
    "only in a batch": "F.scaled_dot_product_attention(query, key, value) if query.ndim > 2 else weights @ value",
}


@pytest.fixture(scope="module")
def marker(sandbox):
    with Marker(Course(ROOT).assignment("a1_scaled_dot_product"), sandbox) as opened:
        yield opened


@pytest.mark.parametrize(
    "call",
    [pytest.param(call, marks=pytest.mark.slow if name != "renamed" else (), id=name) for name, call in CALLS.items()],
)
def test_it_earns_nothing_and_the_message_says_why(marker, call):
    answers = model_answers(marker.assignment)
    code = f"def {NAME}(query, key, value):\n{WEIGHTS}    return {call}, weights"
    imports = "import torch.nn.functional as F\nfrom torch.nn.functional import scaled_dot_product_attention as sdpa"
    report, _ = marker.mark_cells("x", [imports, *answers.values(), code])
    *others, last = report.exercises
    assert last.score == 0
    assert "ready-made" in last.tests[0].message  # said once
    assert f"{len(last.tests) - 1} more tests fail for this reason" in last.tests[0].message
    assert all(exercise.score == exercise.max_score for exercise in others)


def test_a_self_check_in_another_cell_is_fine(marker):
    answers = model_answers(marker.assignment)
    check = f"q = torch.randn(2, 3, 4)\nprint(F.scaled_dot_product_attention(q, q, q) - {NAME}(q, q, q)[0])"
    report, _ = marker.mark_cells("x", [*answers.values(), check])
    assert report.score == report.max_score


@pytest.mark.slow
def test_libraries_look_at_every_module_and_find_the_stand_in_harmless(sandbox):
    """PyTorch asks each module for its `__file__` when it registers an operator; so do `inspect` and `warnings`."""
    package = stand_in("autograder", {"grading": True})
    assert not any(hasattr(package, name) for name in ("__file__", "__path__", "__wrapped__"))
    cell = """
        import inspect, sys
        for name in [name for name in sys.modules if name.startswith("torch.onnx")]:
            del sys.modules[name]
        import torch, torch.library, torch.onnx.ops
        from autograder import check
        @torch.library.custom_op("mine::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor: return 2 * x
        inspect.getmodule(check), inspect.stack()
        print(twice(torch.ones(2)).tolist(), torch.onnx.ops.attention.__name__)
    """
    with sandbox.open(["import torch.onnx.ops", textwrap.dedent(cell)]) as notebook:
        assert [result.error for result in notebook.results] == ["", ""], notebook.results
        assert notebook.results[1].printed == "[2.0, 2.0] attention\n"


def test_hidden_files_are_empty_and_everything_else_is_there(sandbox):
    cell = """
        import glob, os, torch
        folder = os.path.dirname(os.path.dirname(torch.__file__))
        found = [path for pattern in PATTERNS for path in glob.glob(os.path.join(folder, pattern))]
        print(len(found) >= 5, [path for path in found if os.path.isfile(path) and open(path, "rb").read(1)])
        print(os.listdir(os.path.join(folder, "torch", "lib")))
    """
    patterns = sandbox_setting()["forbidden"]["hidden"]
    with sandbox.open([f"PATTERNS = {patterns!r}", textwrap.dedent(cell)]) as notebook:
        assert notebook.results[1].printed == "True []\n[]\n"


def doubles(number):
    class Doubles:
        def double(self, x, times=2):
            return number * x * times

    return Doubles


Doubles = doubles(1)


def test_a_method_and_a_function_with_a_closure_can_be_emptied():
    assert Doubles().double(3) == 6
    remove_forbidden(Forbidden(python=((__name__, "Doubles.double"),)))
    with pytest.raises(RuntimeError, match=r"the ready-made Doubles.double is answered"):
        Doubles().double(3, times=4)


@pytest.mark.parametrize(
    ("args", "small"),
    [
        ((np.ones((1, 4, 9)), np.ones((3, 4, 3)), None, [1], [1]), True),
        ((np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3)), None, [1, 1], [1, 1], [1, 1], 1), True),
        ((np.ones((1, 1, 4, 4)), np.ones((8, 1, 3, 3)), None, [1, 1], [512, 512]), False),
        ((np.ones((256, 64, 4)), np.ones((64, 64, 16))), False),
        ((np.ones((1, 4, 9)), np.ones((3, 4, 3)), None, 1, 10**6), False),
    ],
)
def test_convolution_is_answered_for_as_long_as_it_costs_little(args, small):
    answered = answered_in(sandbox_setting()["forbidden"])
    name = "conv2d" if args[0].ndim == 4 else "conv1d"
    answer = answer_in_cell(
        Call(name, [torch.from_numpy(a) if hasattr(a, "shape") else a for a in args], forbidden=True), answered
    )
    assert isinstance(answer, Reply) == small, answer


def test_a_course_of_ones_own_need_not_name_everything(tmp_path):
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "course.toml").write_text('[forbidden]\nkernels = ["cumsum"]\n')
    found = sandbox_setting(folder)["forbidden"]
    assert (found["kernels"], found["python"], found["where_watched"]) == (["cumsum"], [], {})


def test_a_suspect_that_ends_its_process_hides_no_other():
    three = tuple((name, inspect.Parameter.empty) for name in ("query", "key", "value"))
    real = Suspect("here", "sdp_real", torch.nn.functional.scaled_dot_product_attention, three)
    fatal = Suspect("here", "sdp_fatal", lambda *args: os._exit(1), three)
    assert _of_some([fatal, real, fatal]) == {"here.sdp_real": "attention"}


@pytest.mark.catalogue
def test_what_is_found_by_its_behaviour_is_taken_out():
    """In a Python of its own: it imports all of PyTorch."""
    search = [sys.executable, "-m", "tools.find_ready_made"]
    done = subprocess.run(search, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {line.split()[-1] for line in done.stdout.splitlines() if line.startswith("taken out ")}
    known = {"numpy.convolve", "torch.nn.functional.scaled_dot_product_attention", "torch.onnx.ops.attention"}
    assert known <= found  # else the search does not find
    assert "NOT TAKEN OUT" not in done.stdout


@pytest.mark.slow
def test_the_modules_that_do_it_all_are_noticed(sandbox):
    with Marker(Course(ROOT).assignment("a4_multi_head_attention"), sandbox) as marker:
        code = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError("does not divide")
        d = num_heads * (d_head or d_model // num_heads)
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(d, d_model, bias=False)
        self.h = num_heads

    def forward(self, x, mask=None):
        attend = nn.MultiheadAttention(x.shape[-1], 1, bias=False, batch_first=True).to(x.dtype)
        return attend(x, x, x)
"""
        report, _ = marker.mark_cells(
            "x", ["import torch\nimport torch.nn as nn", *model_answers(marker.assignment).values(), code]
        )
    *others, last = report.exercises
    assert last.score == 0
    assert "ready-made" in last.tests[0].message
    assert all(exercise.score == exercise.max_score for exercise in others)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "F.conv1d(x, w, padding='same')",
        "torch.conv1d(x, w, padding=1)",
        "torch.ops.aten.conv1d(x, w, padding=[1])",
        "nn.Conv1d(x.shape[1], 3, 3, dtype=x.dtype)(x)",
    ],
)
def test_a_ready_made_convolution_is_noticed_where_heads_should_make_it(sandbox, call):
    code = f"""
def convolution_by_attention(X, kernel):
    x, w = torch.from_numpy(X.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    return {call}.detach().numpy()[0].T.copy()
"""
    with Marker(Course(ROOT).assignment("a7_attention_and_convolution"), sandbox) as marker:
        imports = "import numpy as np, torch\nimport torch.nn as nn\nimport torch.nn.functional as F"
        report, _ = marker.mark_cells("x", [imports, *model_answers(marker.assignment).values(), code])
    by_name = {exercise.name: exercise for exercise in report.exercises}
    assert by_name["convolution_by_attention"].score == 0
    assert "ready-made" in by_name["convolution_by_attention"].tests[0].message
    assert by_name["translation_test"].score == by_name["translation_test"].max_score


ASKS = """
import os, torch
import torch.nn.functional as F
def compared(seed):
    one = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(seed))
    try:
        F.scaled_dot_product_attention(one, one, one)
        return "answered"
    except RuntimeError as error:
        return str(error)
same, fresh = compared(1), compared(int.from_bytes(os.urandom(4), "little"))
def told(): return same, fresh
"""


def test_once_an_exercise_was_asked_no_cell_gets_a_new_answer(sandbox):
    """What an exercise was passed may have reached a cell that runs again, so it gets what it had, and no more."""
    with sandbox.open([ASKS]) as running:
        assert ask(running, "told") == ("answered", "answered")
        running.renew()
        again, new = ask(running, "told")
        assert again == "answered"
        assert "the ready-made scaled_dot_product_attention is answered once more for the same inputs only" in new


def test_cells_that_only_show_something_compare_before_anything_is_judged(sandbox):
    shown = "late = compared(int.from_bytes(os.urandom(4), 'little'))\nprint(late)"
    with sandbox.open([ASKS, shown], showing=display_cells([shown]), shows=True) as running:
        assert running.results[1].printed == "answered\n"
        assert ask(running, "told") == ("answered", "answered")
