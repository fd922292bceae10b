"""A ready-made function in an exercise earns nothing under any name. In other cells it is allowed."""

from __future__ import annotations

import contextlib
import functools
import textwrap

import pytest
import torch

from autograder.authoring.sample_class import model_answers
from autograder.course.assignments import Course
from autograder.reports.rubric import notes
from cellcage.notebook_calls import Terms, read
from cellcage.protocol.calls import Call, Failure, Kind, Reply
from cellcage.protocol.messages import Watched
from tests.conftest import ROOT
from tests.helpers.sandboxes import Marker

NAME = "torch_scaled_dot_product_attention"
WEIGHTS = "    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)\n"
CALLS = {
    "renamed": "sdpa(query, key, value)",
    "from the operators": "torch.ops.aten.scaled_dot_product_attention(query, key, value)",
    "only in a batch": "F.scaled_dot_product_attention(query, key, value) if query.ndim > 2 else weights @ value",
}


@pytest.fixture(scope="module")
def marker(sandbox):
    return Marker(Course(ROOT).assignment("a1_scaled_dot_product"), sandbox)


@pytest.mark.parametrize(
    "call",
    [pytest.param(call, marks=pytest.mark.slow if name != "renamed" else (), id=name) for name, call in CALLS.items()],
)
def test_ready_made_attention_earns_nothing_and_is_named_once(marker, call):
    answers = model_answers(marker.assignment)
    code = f"def {NAME}(query, key, value):\n{WEIGHTS}    return {call}, weights"
    imports = "import torch.nn.functional as F\nfrom torch.nn.functional import scaled_dot_product_attention as sdpa"
    report, _ = marker.mark_cells("x", [imports, *answers.values(), code])
    *others, last = report.exercises
    assert last.score == 0
    assert "ready-made" in last.tests[0].message  # only in the first message
    assert f"{len(last.tests) - 1} more tests fail for this reason" in last.tests[0].message
    assert all(exercise.score == exercise.max_score for exercise in others)


def test_self_check_in_another_cell_is_allowed(marker):
    answers = model_answers(marker.assignment)
    check = f"q = torch.randn(2, 3, 4)\nprint(F.scaled_dot_product_attention(q, q, q) - {NAME}(q, q, q)[0])"
    report, _ = marker.mark_cells("x", [*answers.values(), check])
    assert report.score == report.max_score


@pytest.mark.slow
def test_ready_made_module_is_noticed(sandbox):
    code = """
def convolution_by_attention(X, kernel):
    x, w = torch.from_numpy(X.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    return nn.Conv1d(x.shape[1], 3, 3, dtype=x.dtype)(x).detach().numpy()[0].T.copy()
"""
    marker = Marker(Course(ROOT).assignment("a7_attention_and_convolution"), sandbox)
    imports = "import numpy as np, torch\nimport torch.nn as nn\nimport torch.nn.functional as F"
    report, _ = marker.mark_cells("x", [imports, *model_answers(marker.assignment).values(), code])
    by_name = {exercise.name: exercise for exercise in report.exercises}
    assert by_name["convolution_by_attention"].score == 0
    assert "ready-made" in by_name["convolution_by_attention"].tests[0].message
    assert by_name["translation_test"].score == by_name["translation_test"].max_score


def test_mention_is_flagged_in_report_and_log(marker, caplog):
    """A call in another thread is not noticed, as docs/security.md says, but the name is."""
    code = f"""
import threading
def {NAME}(query, key, value):
    found = []
    thread = threading.Thread(target=lambda: found.append(F.scaled_dot_product_attention(query, key, value)))
    thread.start(); thread.join()
{WEIGHTS}    return found[0], weights
"""
    report, _ = marker.mark_cells("x", [*model_answers(marker.assignment).values(), code])
    assert [one.name for one in report.exercises[-1].of("mention")] == ["scaled_dot_product_attention"]
    assert report.score == report.max_score
    assert report.to_dict()["exercises"][-1]["mentions"] == ["scaled_dot_product_attention"]
    assert "mentions the ready-made scaled_dot_product_attention" in " ".join(notes(report.exercises[-1]))
    assert "the cell mentions the ready-made scaled_dot_product_attention" in caplog.text
    assert not any(exercise.of("mention") for exercise in report.exercises[:-1])


def test_code_that_rejects_dispatch_modes_keeps_its_points(marker):
    """Debugging tools may raise if another dispatch mode is active, as it is while operators are watched."""
    code = f"""
from torch.utils._python_dispatch import _get_current_dispatch_mode
def {NAME}(query, key, value):
    if _get_current_dispatch_mode() is not None:
        raise RuntimeError("no rule for this mode")
{WEIGHTS}    return weights @ value, weights
"""
    report, _ = marker.mark_cells("x", [*model_answers(marker.assignment).values(), code])
    assert report.score == report.max_score


def test_operator_called_by_torchscript_is_noticed(sandbox):
    """Only calls in `closely` are watched at the level of operators."""
    cell = """
        import torch
        attend = torch.jit.CompilationUnit("def attend(x: Tensor):\\n    return torch.softmax(x, -1)\\n").attend
        def softmax(x): return attend(x)
    """
    call = Call("softmax", [torch.ones(2, 3)])
    with sandbox.open([textwrap.dedent(cell)]) as running:
        exercise = running.begin(Terms(group="softmax", watch=Watched(("softmax", "_softmax"))))
        with contextlib.closing(exercise):
            first, second, third = map(read, exercise.ask([(call, None)] * 3, closely={1}))
    assert isinstance(first, Reply) and isinstance(third, Reply)
    assert second == Failure(Kind.NOTICED, "_softmax")


# ---------------------------------------------------------------- routes that students take

# Writes a package that stands in for SciPy, which the kit does not need and may not find.
SCIPY = """
import os, sys
os.makedirs("scipy")
open("scipy/__init__.py", "w").close()
with open("scipy/special.py", "w") as file:
    file.write("import numpy as np\\ndef softmax(x, axis=None):\\n")
    file.write("    e = np.exp(x - np.max(x, axis, keepdims=True))\\n    return e / e.sum(axis, keepdims=True)\\n")
sys.path.insert(0, os.getcwd())
"""
LATE = {
    "imported in the function": "from scipy.special import softmax as sm\n    return sm(x, axis=axis)",
    "the module imported in the function": "import scipy.special as special\n    return special.softmax(x, axis=axis)",
    "imported by importlib": "return importlib.import_module('scipy.special').softmax(x, axis=axis)",
    "by getattr": "import scipy.special\n    return getattr(scipy.special, 'soft' + 'max')(x, axis=axis)",
}
SPARSE = """
def softmax(x, axis=-1):
    low = torch.from_numpy(np.asarray(x) - np.max(x, axis=axis, keepdims=True) - 1)
    return torch.sparse.softmax(low.to_sparse(), axis % low.ndim).to_dense().numpy()
"""
TRANSFORM = """
def softmax(x, axis=-1):
    x = torch.from_numpy(np.array(x)).movedim(axis, -1)
    return torch.distributions.SoftmaxTransform()(x).movedim(-1, axis).numpy()
"""
TWO_AXES = """
    k, d_in, d_out = kernel.shape
    L, start = len(X), k - 1 - (k - 1) // 2
    output = np.zeros((L, d_out), X.dtype)
    for o in range(d_out):
        for i in range(d_in):
            output[:, o] += conv(X[:, i].copy(), kernel[::-1, i, o].copy())[start:][:L]
    offsets, _, _ = convolution_heads(kernel)
    return output, np.stack([offset_attention(L, offset) for offset in offsets]).astype(X.dtype)
"""
BY_MASKS = "def masked_softmax(scores, mask{more}):\n    scores, mask = torch.tensor(scores), torch.tensor(mask)\n"
A1, A2, A7 = "a1_scaled_dot_product", "a2_causal_masking", "a7_attention_and_convolution"
ROUTES = {
    **{
        name: (A1, "softmax", f"{SCIPY}\nimport importlib\ndef softmax(x, axis=-1):\n    {body}")
        for name, body in LATE.items()
    },
    "a sparse softmax": (A1, "softmax", SPARSE),
    "a class of torch.distributions": (A1, "softmax", TRANSFORM),
    "TorchScript after an exit": (A1, "softmax", """
import os
@torch.jit.script
def looked(x, axis: int):
    return torch.softmax(x, axis)
def softmax(x, axis=-1):
    if not os.path.exists("seen"):
        open("seen", "w").close()
        os._exit(0)
    return looked(torch.from_numpy(np.array(x)), axis).numpy()
"""),
    "a masked tensor": (A2, "masked_softmax", BY_MASKS.format(more="") + """
    from torch.masked import masked_tensor
    mask = mask.broadcast_to(scores.shape).contiguous()
    return masked_tensor(torch.where(mask, scores, 0), mask).softmax(-1).to_tensor(0.0).nan_to_num().numpy()
"""),
    "a default argument": (A2, "masked_softmax", BY_MASKS.format(more=", soft=torch.masked.softmax") + """
    return soft(scores, -1, mask=mask.broadcast_to(scores.shape)).nan_to_num().numpy()
"""),
    "a partial": (A7, "convolution_by_attention", "from functools import partial\n"
        f"conv = partial(np.convolve, mode='full')\ndef convolution_by_attention(X, kernel):{TWO_AXES}"),
    "an attribute of a class": (A7, "convolution_by_attention", "class Ops:\n    conv = staticmethod(np.convolve)\n"
        f"def convolution_by_attention(X, kernel):\n    conv = Ops().conv{TWO_AXES}"),
    "a container": (A7, "convolution_by_attention", "ways = dict(full=[np.convolve])\n"
        f"def convolution_by_attention(X, kernel):\n    conv = ways['full'][0]{TWO_AXES}"),
    "a product of polynomials": (A7, "convolution_by_attention", """
def conv(a, b):
    found = (np.poly1d(a) * np.poly1d(b)).coeffs
    return np.concatenate([np.zeros(len(a) + len(b) - 1 - len(found)), found])
""" f"def convolution_by_attention(X, kernel):{TWO_AXES}"),
}  # fmt: skip
IMPORTS = "import math\nimport numpy as np, torch\nimport torch.nn as nn\nimport torch.nn.functional as F"


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def exercise_by(request, sandbox_of):
    """A function that grades one exercise, with the model answers of the others."""

    @functools.cache
    def marker_of(assignment):
        return Marker(Course(ROOT).assignment(assignment), sandbox_of(request.param))

    def graded(assignment, name, *cells, **more):
        marker = marker_of(assignment)
        answers = [code for other, code in model_answers(marker.assignment).items() if other != name]
        report, _ = marker.mark_cells("x", [IMPORTS, *answers, *cells], **more)
        return next(exercise for exercise in report.exercises if exercise.name == name)

    return graded


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
def test_ready_made_function_is_noticed_by_any_route(exercise_by, route):
    found = exercise_by(*ROUTES[route])
    assert found.score == 0
    assert "ready-made" in found.tests[0].message


ALLOWED = {
    "sums of windows": (A7, "convolution_by_attention", """
def convolution_by_attention(X, kernel):
    k, left = len(kernel), (len(kernel) - 1) // 2
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(X, ((left, k - 1 - left), (0, 0))), k, axis=0)
    weights = np.stack([offset_attention(len(X), offset) for offset in convolution_heads(kernel)[0]]).astype(X.dtype)
    return np.einsum("lik,kio->lo", windows, kernel), weights
"""),
    "a plain softmax": (A2, "masked_softmax", BY_MASKS.format(more="") + """
    weights = F.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return weights.nan_to_num().numpy()
"""),
    "what a name means": (A1, "softmax", """
import inspect, pickle
same = np.convolve
def softmax(x, axis=-1):
    assert pickle.loads(pickle.dumps(np.convolve)) is np.convolve is same and np.convolve.__name__ == "convolve"
    assert [*inspect.signature(np.convolve).parameters] == ["a", "v", "mode"]
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.add.reduce(e, axis=axis, keepdims=True)
"""),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("route", ALLOWED)
def test_allowed_function_keeps_its_points(exercise_by, route):
    found = exercise_by(*ALLOWED[route])
    assert found.score == found.max_score, found


BLOCK = """
@torch.jit.script
def looked(q, k, v, seen):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, seen)
class Scripted(ModernDecoderBlock):
    def forward(self, x):
        looked(*[torch.ones(1, 1, 2, 2)] * 3, torch.ones(2, 2, dtype=torch.bool))
        return super().forward(x)
"""


@pytest.mark.slow
def test_module_is_watched_where_it_is_used(exercise_by):
    """Half of its calls only build it. The same calls are watched each time."""
    assignment = Course(ROOT).assignment("a8_modern_attention")
    own = model_answers(assignment)["ModernDecoderBlock"]
    cell = f"{own}\n{BLOCK}\nModernDecoderBlock = Scripted"
    cell = cell.replace("super().__init__()", "nn.Module.__init__(self)")
    found = exercise_by(assignment.name, "ModernDecoderBlock", cell)
    assert found.score == 0 and "ready-made" in found.tests[0].message, found


BY_FUNCTIONS = """
@torch.jit.script
def looked(x):
    return torch.nn.functional.scaled_dot_product_attention(x, x, x)
right = {name}
def {name}(*args, **kwargs):
    looked(torch.ones(1, 2, 2))
    return right(*args, **kwargs)
"""


@pytest.mark.slow
def test_exercise_that_gets_functions_is_watched_closely(exercise_by):
    """Its calls are not planned, since its tests pass functions."""
    for assignment, name in (("a6_transformer_summarizer", "greedy_summary"), (A7, "translation_test")):
        own = model_answers(Course(ROOT).assignment(assignment))[name]
        found = exercise_by(assignment, name, own, BY_FUNCTIONS.format(name=name))
        assert found.score == 0 and "ready-made" in found.tests[0].message, found


SCRIPTED = """
@torch.jit.script
def looked(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
"""


@pytest.mark.slow
def test_what_one_attempt_sees_counts_in_those_that_run_the_same_code(exercise_by):
    """The student's own scores raise in the calls that are watched. With the reference's, these show the rest."""
    name = "scaled_dot_product_attention"
    right = model_answers(Course(ROOT).assignment(A1))[name]
    broken = f"""{SCRIPTED}
def attention_scores(Q, K):
    if Q.shape not in ((70, 96), (17, 11), (2, 1)):  # those of one of the tests
        raise ValueError(Q.shape)
    return Q @ K.T / math.sqrt(K.shape[-1])
{right.replace(name, "attended")}
def {name}(Q, K, V):
    found = attended(Q, K, V)
    looked(*[torch.ones(1, 2, 2)] * 3)
    return found
"""
    found = exercise_by(A1, name, broken)
    assert found.score == 0 and "ready-made" in found.tests[0].message, found


@pytest.mark.slow
def test_ready_made_function_in_an_earlier_exercise_costs_only_that(exercise_by):
    """With the reference in its place, the later exercise calls none."""
    name = "a4_multi_head_attention"
    answers = model_answers(Course(ROOT).assignment(name))
    later = [answers["single_head"], """
given = single_head
def single_head(*args, **kwargs):
    F.scaled_dot_product_attention(*[torch.ones(1, 2, 2)] * 3)
    return given(*args, **kwargs)
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    found = right(X, W_Q, W_K, W_V, W_O, num_heads, mask)
    single_head(X, W_Q, W_K, W_V, 0, num_heads)
    return found
"""]  # fmt: skip
    right = answers["multi_head_attention"].replace("def multi_head_attention", "def right")
    assert exercise_by(name, "single_head", right, *later).score == 0
    found = exercise_by(name, "multi_head_attention", right, *later)
    assert found.score == found.max_score, found


@pytest.mark.slow
def test_later_cell_takes_nothing_from_an_answer_without_a_ready_made_function(exercise_by):
    right = model_answers(Course(ROOT).assignment(A1))["softmax"]
    others = len(model_answers(Course(ROOT).assignment(A1))) - 1
    wrong = "def softmax(x, axis=-1): return F.softmax(torch.tensor(x), dim=axis).numpy()"
    checks = (("softmax", 1 + others + 1),)
    for cells in ([right, wrong], [wrong, right]):
        found = exercise_by(A1, "softmax", *cells, checks=checks)
        assert found.score == found.max_score, found
    assert exercise_by(A1, "softmax", wrong, "x = 1", checks=checks).score == 0
