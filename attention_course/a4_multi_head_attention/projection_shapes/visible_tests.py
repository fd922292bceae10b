"""Visible tests of projection_shapes, for students to read; the numbers are those of the notebook."""

import pytest

from autograder.testing import equal, expect, shown


@pytest.mark.exercise("projection_shapes")
class TestProjectionShapes:
    def entries(self, student, *args):
        got = student.projection_shapes(*args)
        if not isinstance(got, dict):
            expect.fail(f"returned {expect.kind_of(got)}; it should be a dict.", symptom="kind")
        missing = [key for key in ("W_Q", "W_K", "W_V", "W_O") if key not in got]
        if missing:
            keys = ", ".join(map(repr, got)) or "none"
            expect.fail(f"the dict has no {', '.join(missing)}; its keys are {keys:.200}.", symptom="kind")
        more = [key for key in got if key not in ("W_Q", "W_K", "W_V", "W_O")]
        if more:
            expect.fail(f"besides the four keys the dict has {', '.join(map(repr, more)):.200}.", symptom="kind")
        return got

    def test_money_bank(self, student):
        """Money Bank (4, 2 heads, 4, 4): W_Q is (4, 8) and W_O is (8, 4)."""
        with shown("Which row of the table above is this?"):
            got = self.entries(student, 4, 2, 4, 4)
        # Called only with the right keys, because `check` knows a mistake by its numbers and by what was called.
        with shown("What are the arguments called in the first line that you were given?", "exception"):
            student.projection_shapes(d_v=4, d_k=4, num_heads=2, d_model=4)
        with shown("Which row of the table above is this?"):
            for key, wanted in (("W_Q", (4, 8)), ("W_O", (8, 4))):
                equal(got[key], wanted, f"the shape of {key}")

    def test_other_values(self, student):
        """All sizes differ: d_model 10, 3 heads, d_k 4, d_v 2."""
        with shown("What comes in, what goes out, for all heads together, and which matrices deal with values?"):
            got = self.entries(student, 10, 3, 4, 2)
            for key, wanted in (("W_Q", (10, 12)), ("W_K", (10, 12)), ("W_V", (10, 6)), ("W_O", (6, 10))):
                equal(got[key], wanted, f"the shape of {key}")
