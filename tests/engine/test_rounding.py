"""An answer that is the reference's but for rounding is told from any other, and tests that see rounding run."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.testing.recording import record
from autograder.testing.rounding import is_rounded, rounded_otherwise
from autograder.testing.session import Suite
from cellcage.protocol.calls import Failure, Kind, Reply, answer_bytes, answer_of

X = np.linspace(-2, 3, 12).reshape(3, 4)
X[0, 0], X[1, 1], X[2, 2] = 0, np.nan, -np.inf


def packed(value, **more):
    return answer_bytes(Reply(value, **more))


RIGHT = packed((X, torch.ones(2, 2), 0.5, {"loss": [X]}), inputs=[X], parameters={"W_O": torch.ones(3)})


def changed(place, value):
    other = X.copy()
    other[place] = value
    return other


@pytest.mark.parametrize(
    "value", [X * (1 + 1e-14), np.asfortranarray(X), X[::-1][::-1]], ids=["rounded", "order of axes", "strides"]
)
def test_another_rounding_or_layout_is_the_same(value):
    assert is_rounded(packed(value), packed(X))


@pytest.mark.parametrize(
    "value",
    [
        X * (1 + 1e-10),
        changed((0, 0), 1e-300),
        changed((0, 1), 0),
        changed((1, 1), 1.0),
        changed((2, 2), np.inf),
        X.astype(np.float32),
        X.tolist(),
        (X,),
        X[None],
        torch.from_numpy(X),
        None,
        "X",
    ],
    ids=str,
)
def test_anything_else_is_not(value):
    assert not is_rounded(packed(value), packed(X))


@pytest.mark.parametrize(("one", "other"), [(True, 1), (1, 1.0), (2, 3), ("a", "b"), ([1.0], (1.0,))])
def test_plain_values_are_equal_and_of_one_type(one, other):
    assert not is_rounded(packed(one), packed(other))
    assert is_rounded(packed([one, 1.0]), packed([one, 1.0 + 1e-15]))


def test_a_changed_input_is_not_the_same():
    assert not is_rounded(packed(X, inputs=[X * (1 + 1e-14)]), packed(X, inputs=[X]))
    assert not is_rounded(answer_bytes(Failure(Kind.RAISED, "no")), packed(X))
    assert not is_rounded(Failure(Kind.RAISED, "no"), packed(X))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_moved_is_further_off_than_rounding_and_has_the_same_form(seed):
    moved = rounded_otherwise(RIGHT, seed)
    assert not is_rounded(moved, RIGHT)
    one, other = answer_of(moved), answer_of(RIGHT)
    np.testing.assert_allclose(one.value[0], other.value[0], rtol=1e-10)
    assert one.value[1].dtype == torch.float32 and one.value[2] == pytest.approx(0.5)
    assert one.value[0][0, 0] == 0 and np.isnan(one.value[0][1, 1])
    np.testing.assert_array_equal(one.inputs[0], other.inputs[0])


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_no_bytes_make_it_raise(data):
    at = data.draw(st.integers(0, len(RIGHT) - 1))
    body = data.draw(st.binary() | st.binary().map(lambda new: RIGHT[:at] + new + RIGHT[at + len(new) :]))
    assert is_rounded(body, RIGHT) in (True, False)


SUITE = '''
import numpy as np
import pytest
from autograder.testing import expect

pytestmark = pytest.mark.exercise("double")
X = np.linspace(1, 2, 6).reshape(2, 3)


class TestDouble:
    def test_values(self, student, reference):
        """Twice."""
        expect.close(student.double(X), reference.double(X))

    def test_bits(self, student, reference):
        """Bit by bit."""
        expect.equal(student.double(X), reference.double(X))

    def test_twice(self, student):
        """The same each time."""
        expect.equal(student.double(X), student.double(X))

    def test_layout(self, student):
        """In the order of its axes."""
        assert student.double(X).flags.c_contiguous
'''


def test_a_test_that_sees_rounding_or_layout_runs_for_everybody(tmp_path):
    path = tmp_path / "a1" / "double" / "hidden_tests.py"
    path.parent.mkdir(parents=True)
    path.write_text(SUITE)
    with Suite([path]) as suite:
        heard = record(suite, {"double": lambda X: 2 * X}).calls
    assert {test.name: all(one.rounds for one in calls) for test, calls in heard.items()} == {
        "test_values": True,
        "test_bits": False,
        "test_twice": True,
        "test_layout": False,
    }
