"""Hidden tests of projection_shapes."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.properties import WRITTEN, written_between
from ..shared_hidden_tests import KEYS


@pytest.mark.exercise("projection_shapes")
class TestProjectionShapes:
    # d_model, num_heads, d_k, d_v. The last ones are GPT-2's, the paper's base model's, and the smallest.
    SIZES = (
        (7, 3, 4, 5), (12, 2, 6, 8), (12, 3, 6, 8), (12, 2, 8, 6), (30, 5, 6, 6), (16, 2, 3, 4),
        (768, 12, 64, 64), (512, 8, 64, 64), (96, 8, 12, 17), (1, 1, 1, 1), (2, 1, 2, 3),
    )  # fmt: skip

    def shapes(self, student, *args, **kwargs):
        """The dict."""
        got = student.projection_shapes(*args, **kwargs)
        if not isinstance(got, dict):
            expect.fail(f"returned {expect.kind_of(got)}, not a dict.")
        return got

    def sizes(self, shapes, *keys):
        """The shapes under `keys` as numbers. Another test judges whether they are tuples of whole numbers."""
        found = []
        for key in keys:
            own = self.own_key(shapes, key)
            shape = shapes[own].tolist() if isinstance(shapes[own], np.ndarray) else shapes[own]
            if not isinstance(shape, tuple | list) or len(shape) != 2:
                expect.fail(f"the entry {key!r} is {expect.kind_of(shapes[own])}; it should be a tuple of two sizes.")
            if not all(isinstance(n, int | float | np.integer | np.floating) for n in shape):
                expect.fail(f"the entry {key!r} holds something that is no number.")
            found.append([float(n) for n in shape])
        return found

    def own_key(self, shapes, key):
        """The student's key of a matrix. Another spelling, such as `W_q` or `wq`, fails `test_shape`."""
        letters = [(str(own), str(own).replace("_", "").replace(".weight", "").lower()) for own in shapes]
        wanted = key.replace("_", "").lower()
        alike = [own for own, name in letters if name in (wanted, wanted[-1])]
        if key not in shapes and len(alike) != 1:
            expect.fail(f"the dict has no {key!r}; it has {', '.join(map(str, shapes)) or 'no keys'}.")
        return key if key in shapes else alike[0]

    def compare(self, student, keys, hint, reference):
        """Fails unless the student's shapes under `keys` are the reference's."""
        for args in (*self.SIZES, (12, 2, 6, 8)):
            got = self.sizes(self.shapes(student, *args), *keys)
            wanted = self.sizes(reference.projection_shapes(*args), *keys)
            for key, size, right in zip(keys, got, wanted, strict=True):
                if size != right:
                    expect.fail(f"the shape of {key} is not right: ({size[0]:g}, {size[1]:g}).", hint)

    def looks_like_shapes(self, student):
        """The answer. Fails unless equal calls give equal answers, and each shape changes with some argument."""
        first, again, others = (self.shapes(student, *args) for args in ((7, 3, 4, 5), (7, 3, 4, 5), (30, 6, 8, 9)))
        if self.sizes(first, *KEYS) != self.sizes(again, *KEYS):
            expect.fail("the same arguments give another result each time.")
        for key, one, other in zip(KEYS, self.sizes(first, *KEYS), self.sizes(others, *KEYS), strict=True):
            if one == other:
                expect.fail(f"the shape of {key} is the same whatever the arguments.", "Which sizes does it hang on?")
        return first

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """A dict with four entries, each with two sizes."""
        got = self.shapes(student, 7, 3, 4, 5)
        self.sizes(got, *KEYS)
        for key in KEYS:
            if key not in got:
                hint = "Which names does the docstring give the four keys, letter by letter?"
                expect.fail(f"the dict has no {key!r}; it has {', '.join(map(str, got))}.", hint)
        more = [str(key) for key in got if key not in KEYS]
        if more:
            expect.fail(f"the dict also has {', '.join(more)}.", "It should hold the four matrices and no more.")

    @pytest.mark.weight(0.45)
    def test_model_width(self, student):
        """Each matrix has the width of the model on one side: there it takes a word's vector, or gives one."""
        for d_model, *others in ((7, 3, 4, 5), (11, 2, 6, 8)):
            shapes = self.sizes(self.shapes(student, d_model, *others), *KEYS)
            for key, size in zip(KEYS, shapes, strict=True):
                if d_model not in size:
                    hint = "Where does a word's vector, of width d_model, go in or come out?"
                    expect.fail(f"the shape of {key} is ({size[0]:g}, {size[1]:g}), and d_model is {d_model}.", hint)

    @pytest.mark.weight(0.5)
    def test_queries_and_keys(self, student, reference):
        """W_Q and W_K take a word's vector to the queries and keys of all heads."""
        hint = "X, (L, d_model), is multiplied by it from the right. How many numbers have the queries of all heads?"
        self.compare(student, ("W_Q", "W_K"), hint, reference)

    @pytest.mark.weight(0.55)
    def test_values(self, student, reference):
        """W_V takes a word's vector to the values of all heads."""
        hint = "X, (L, d_model), is multiplied by it from the right. How wide is one head's value, how wide are all?"
        self.compare(student, ("W_V",), hint, reference)

    @pytest.mark.weight(1.05)
    def test_output(self, student, reference):
        """W_O takes the concatenated heads back to a word's vector."""
        hint = "What is concatenated, and how wide is it then? Which width should come out?"
        self.compare(student, ("W_O",), hint, reference)

    @pytest.mark.weight(0.15)
    def test_tuples_of_whole_numbers(self, student):
        """Each shape is a tuple of whole numbers, as `np.zeros` takes it."""
        shapes = self.looks_like_shapes(student)
        for key in KEYS:
            shape = shapes[self.own_key(shapes, key)]
            if not isinstance(shape, tuple):
                expect.fail(f"the shape of {key} is {expect.kind_of(shape)}, not a tuple.")
            if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in shape):
                expect.fail(f"the shape of {key} holds a number that is not whole.", "Is there a / where // belongs?")

    @pytest.mark.weight(0.15)
    def test_keywords(self, student):
        """The arguments may come by keyword, in any order; what one does with a dict changes no other."""
        by_place = self.looks_like_shapes(student)
        by_name = self.shapes(student, d_v=5, d_k=4, num_heads=3, d_model=7)
        if self.sizes(by_name, *KEYS) != self.sizes(by_place, *KEYS):
            expect.fail("returned something different when the arguments were passed by name.")
        write, undo = ("__setitem__", "of the caller", 0), ("pop", "of the caller")
        later = written_between(student.projection_shapes, [11, 2, 3, 5], write, undo, [7, 3, 4, 5])
        if "of the caller" in later:
            expect.fail("what somebody wrote into another dict is in this one, too.", WRITTEN)
