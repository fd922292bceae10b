"""Model answers in odd forms are graded in time, and a form with other values does not get full marks."""

from __future__ import annotations

import time
import warnings
from typing import Any

import pytest

from autograder.authoring.sample_class import model_answers
from tests.helpers.in_process import ASSIGNMENTS, LONG, judged_alone, reference_of
from tests.helpers.sandboxes import Marker

SECONDS = 5
# What is returned instead of the model answer `v`; `v` itself where the form does not apply.
FORMS = {
    "float": "v.float() if tensor and v.dtype == torch.bool else v.astype(float) if array and v.dtype == bool else v",
    "object": "v.astype(object) if array else v",
    "half": "v.half() if tensor else v.astype(np.float16) if array else v",
    "complex": "v * (1 + 0j)",
    "bool": "v.bool() if tensor else v.astype(bool) if array else bool(v)",
    "int8": "v.to(torch.int8) if tensor else v.astype(np.int8) if array else v",
    "text": "str(v)",
    "texts": "v.astype(str) if array else str(v)",
    "none": "None",
    "lists": "v.tolist() if hasattr(v, 'tolist') else [v]",
    "first": "v[0] if hasattr(v, '__len__') and not isinstance(v, dict) else v",
    "empty": "v[:0] if hasattr(v, 'shape') and v.ndim else v",
    "more axes": "v[None, ..., None] if hasattr(v, 'shape') else v",
    "no axes": "v.sum() if hasattr(v, 'shape') else v",
    "nan": "v * float('nan')",
    "inf": "v - float('inf')",
    "zeros": "v * 0",
    "huge": "v * 1e300",
    "negative": "-1 * v",
    "dict": "{'a': v, 1: v, None: v}",
    "tuple": "(v, v, v)",
    "generator": "(x for x in [v])",
    "masked": "np.ma.masked_array(v, mask=True) if array else v",
    "matrix": "np.asmatrix(v) if array and v.ndim == 2 else v",
    "other kind": "torch.from_numpy(np.array(v)) if array else v.detach().numpy() if tensor else v",
    "meta": "v.to('meta') if tensor else v",
    "sparse": "v.to_sparse() if tensor else v",
    "detached": "v.detach() if tensor else v",
    "structured": "np.array([(1, 2.0)], dtype=[('a', int), ('b', float)])",
    "html": r"'<script>alert(1)</script>\x1b[31m\u202e'",
    "nested": "[[[[v]]]]",
    "contains itself": "(lambda items: (items.append(items), items)[1])([])",
    "large": "np.zeros(5_000_000)",
    "lambda": "lambda: v",
    "float not": "1.0 - v if array and v.dtype == bool else v",
    "float twice": "2.0 * v",
    "float none": "0.0 * v",
    "shifted": "np.roll(np.asarray(v, dtype=np.float16), 1, -1) if array and v.ndim else v",
    "cut": "v[..., :-1] if hasattr(v, 'ndim') and v.ndim else v",
    "int": "v.astype(int) + 1 if array else v",
    "bytes": "np.asarray(v).astype('float32').tobytes() if array else v",
    "class": "type('Odd', (), {'__repr__': lambda self: 1})()",
}
# Their results have no axes, or cannot be multiplied.
NO_ARRAYS = {"projection_shapes", "training_example", "summary_loss", "next_token", "greedy_summary", "ablate"} | {
    "translation_test",
    "cache_bytes",
}
HELPER = """
def _odd(v, form=__FORM__):
    import numpy as np, torch
    array, tensor = isinstance(v, np.ndarray), isinstance(v, torch.Tensor)
    try:
        return eval(form, dict(np=np, torch=torch, v=v, array=array, tensor=tensor))
    except Exception:
        return v  # the form does not apply


def _oddly(function):
    def odd(*args, **kwargs):
        value = function(*args, **kwargs)
        return tuple(map(_odd, value)) if isinstance(value, tuple) else _odd(value)

    return odd


def _odd_class(cls):
    methods = ["forward"] if hasattr(cls, "forward") else [m for m in vars(cls) if not m.startswith("__")]
    return type(cls.__name__, (cls,), {name: _oddly(getattr(cls, name)) for name in methods})
"""


def helper(form: str) -> str:
    return HELPER.replace("__FORM__", repr(FORMS[form]))


def in_form(code: Any, form: str) -> Any:
    names: dict[str, Any] = {}
    exec(helper(form), names)
    return names["_odd_class"](code) if isinstance(code, type) else names["_oddly"](code)


SLOW = [pytest.mark.slow]
CASES = [
    pytest.param(assignment, exercise, form, id=f"{exercise.name}-{form}", marks=marks)
    for place, (assignment, exercise) in enumerate((a, e) for a in ASSIGNMENTS for e in a.exercises)
    for number, form in enumerate(FORMS)
    for marks in [SLOW * (exercise.name in LONG) if (place + number) % 58 == 0 else [pytest.mark.catalogue]]
]


@pytest.mark.parametrize(("assignment", "exercise", "form"), CASES)
def test_odd_form_is_graded_in_time(assignment, exercise, form):
    code = in_form(reference_of(assignment, exercise), form)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = judged_alone(assignment, exercise, code)
    assert not result.of("not produced")
    assert time.process_time() - began < 2 * SECONDS  # no limit on the diagnosis applies here
    assert not any("Please tell your instructor" in test.message for test in result.tests)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignment", "form"),
    [
        pytest.param(assignment, form, id=f"{assignment.name}-{form}", marks=marks)
        for place, assignment in enumerate(ASSIGNMENTS)
        for form in FORMS
        for marks in [[] if place == 0 and form in ("none", "nan", "generator") else [pytest.mark.catalogue]]
    ],
)
def test_notebook_with_odd_forms_is_graded(sandbox, assignment, form):
    cells = [helper(form), *model_answers(assignment).values()]
    for exercise in assignment.exercises:
        wrapped = f"_odd_class({exercise.name})" if exercise.name[0].isupper() else f"_oddly({exercise.name})"
        cells.append(f"{exercise.name} = {wrapped}")
    report, _ = Marker(assignment, sandbox).mark_cells("odd", cells)
    assert report.status == "graded", report.reason
    right = {exercise.name for exercise in report.exercises if exercise.score == exercise.max_score}
    if form in {"none", "text", "dict", "lambda", "class", "html", "large"}:
        assert not right
    elif form in {"nan", "empty", "float none"}:
        assert right <= NO_ARRAYS
