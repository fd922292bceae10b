"""nbgrader's Validate names what is unfinished, with the message, and never contradicts `check`."""

from __future__ import annotations

import nbformat
import pytest
from nbgrader.validator import Validator

from autograder.authoring.sample_class import fill, mistake, model_answers
from autograder.cli.check_notebook import read, verdicts
from autograder.student.check_result import parts_of
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE
from tests.helpers.kernel import once_more

pytestmark = pytest.mark.catalogue
A1, A2 = COURSE.assignment("a1_scaled_dot_product"), COURSE.assignment("a2_causal_masking")
WARNS = {
    "softmax": "def softmax(x, axis=-1):\n"
    "    import sys, warnings\n"
    "    print('about to divide', file=sys.stderr)\n"
    "    warnings.warn('be careful')\n"
    "    e = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    "    return e / e.sum(axis=axis, keepdims=True)\n"
}
BROKEN = {"causal_mask": "def causal_mask(length)\n    pass", "masked_softmax": "def masked_softmax(scores): return 3"}
CASES = [
    (A1, {}),
    (A1, model_answers(A1)),
    (A1, model_answers(A1) | mistake(A1, "no-scaling", "attention_scores") | WARNS),
    (A2, model_answers(A2) | BROKEN),
]


@pytest.mark.parametrize(("assignment", "answers"), CASES, ids=["stubs", "done", "mistake and stderr", "broken cells"])
def test_validate_and_check_agree_on_every_exercise(assignment, answers, tmp_path, sandbox):
    path = tmp_path / assignment.notebook.name
    nbformat.write(fill(ROOT / "assignments" / assignment.name / path.name, answers), path)
    found = once_more(lambda: Validator().validate(str(path)))
    failed = {cell["source"]: cell["raw_error"] for cell in found.get("failed", [])}
    assert failed.pop("YOUR ANSWER HERE") == "You did not provide a response."
    said = list(verdicts(read(path), sandbox.students))
    assert set(failed) == {f'check("{verdict.result.name}")' for verdict in said if not verdict.passed}
    for verdict in said:
        for test in verdict._tests():  # no question, if another exercise is the cause
            if verdict.result.started and test.message:
                happened, question = (parts := parts_of(test)).happened, parts.question  # lines of their own
                said_there = words(failed[f'check("{verdict.result.name}")'])
                assert words(happened) in said_there
                # A question is asked only if an earlier exercise is not the suspect.
                assert not question or (words(question) in said_there) == (verdict.culprit is None)


def words(text):
    return " ".join(text.split())
