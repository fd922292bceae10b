"""Hidden tests of ablate."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal, tensor
from ..shared_hidden_tests import EXACT

# In all tests but one: heads of width two on d_model = 5, so that nearly all sizes differ.
HEADS, WIDE, D_MODEL, LAYERS = 3, 6, 5, 3


def numbers_of_a_model(seed, dtype=np.float64, wide=WIDE, d_model=D_MODEL, layers=LAYERS):
    """The matrices of a small decoder by name, as in its `state_dict`."""
    shapes = {"embedding.weight": (7, d_model), "output.weight": (7, d_model), "output.bias": (7,)}
    for layer in range(layers):
        of = f"blocks.{layer}.attention"
        shapes |= {f"{of}.{name}.weight": (wide, d_model) for name in ("W_Q", "W_K", "W_V")}
        shapes[f"{of}.W_O.weight"] = (d_model, wide)
    return {name: tensor(normal(seed + i, *shape, dtype=dtype)) for i, (name, shape) in enumerate(shapes.items())}


NUMBERS, OTHERS = numbers_of_a_model(60), numbers_of_a_model(90)


@pytest.mark.exercise("ablate")
class TestAblate:
    def answer(self, student, *args, **kwargs):
        """The answer, which has to be a dict."""
        got = student.ablate(*args, **kwargs)
        if not isinstance(got, dict):
            expect.fail(f"returned {expect.kind_of(got)}, not a dict.", "Under which names is a model to find them?")
        return got

    def numbers(self, student, *args, **kwargs):
        """The answer's arrays by name. `test_form` judges whether they are tensors."""
        got = self.answer(student, *args, **kwargs)
        return {name: np.asarray(expect.numbers(value)) for name, value in got.items()}

    def W_O(self, student, layer, head, weights=NUMBERS, num_heads=HEADS):
        """The changed matrix of that layer."""
        got, name = self.numbers(student, weights, layer, head, num_heads), f"blocks.{layer}.attention.W_O.weight"
        if name not in got:
            expect.fail(f"there is no {name} in the dict.", "Under which names is a model to find them?")
        return got[name]

    def looks_like_an_ablation(self, student):
        """Fails unless something changed and depends on the input. Other tests judge which matrix it is."""
        first, again, other = (self.numbers(student, given, 1, 2, HEADS) for given in (NUMBERS, NUMBERS, OTHERS))
        if not self.alike(first, again):
            expect.fail("the same arguments give another result each time.")
        if self.alike(first, {name: value.numpy() for name, value in NUMBERS.items()}):
            expect.fail("all numbers are as they were.", "Which numbers make the head heard?")
        if self.alike(first, other):
            expect.fail("the result stays the same with other weights.", "What is it made from?")

    def alike(self, one, other):
        """True if names and numbers are equal."""
        return one.keys() == other.keys() and all(
            one[name].shape == other[name].shape and np.allclose(one[name], other[name]) for name in one
        )

    @pytest.mark.weight(0.25)
    def test_form(self, student):
        """A dict of tensors with the names and the shapes that came in."""
        got = self.answer(student, NUMBERS, 1, 2, HEADS)
        missing = sorted(NUMBERS.keys() - got.keys())
        if missing or got.keys() - NUMBERS.keys():
            expect.fail(f"the dict has {len(got)} names, and {len(NUMBERS)} came in.", "What of all the others?")
        for name, value in got.items():
            expect.shape(expect.tensor(value, what=name), tuple(NUMBERS[name].shape), what=name)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Eight heads of width twelve in four layers, 64 heads of width one, and two heads."""
        hint = expect.IfOthersPass(
            "With three heads and layers another test judges this. Is there a size in your code as a number?"
        )
        cases = (
            (110, (96, 5, 4), 8, ((3, 7), (0, 4))),
            (140, (64, 3, 1), 64, ((0, 33),)),
            (160, (8, 4, 12), 2, ((11, 1),)),
        )
        for seed, (wide, d_model, layers), heads, silenced in cases:
            weights = numbers_of_a_model(seed, np.float64, wide, d_model, layers)
            for layer, head in silenced:
                got, wanted = (self.W_O(one, layer, head, weights, heads) for one in (student, reference))
                what = f"the W_O of layer {layer} without head {head} of {heads}"
                expect.close(got, wanted, hint, what, EXACT)

    @pytest.mark.weight(1.05)
    def test_values(self, student, reference):
        """The head's numbers in that layer's W_O are zero, all others of it as before."""
        hint = "Which columns of W_O.weight meet what this head has found?"
        for layer, head in ((1, 1), (0, 2), (2, 0)):
            got, wanted = self.W_O(student, layer, head), self.W_O(reference, layer, head)
            expect.close(got, wanted, hint, f"the W_O of layer {layer} without head {head}", EXACT)

    @pytest.mark.weight(0.25)
    def test_all_heads_one_by_one(self, student):
        """With each head taken away in turn, each column is zero once."""
        self.looks_like_an_ablation(student)
        zero = sum((self.W_O(student, 0, head) == 0).all(axis=0).astype(int) for head in range(HEADS))
        if not np.array_equal(zero, np.ones(WIDE)):
            expect.fail("some columns belong to no head, or to more than one.", "How wide is a head?")

    @pytest.mark.weight(0.3)
    def test_other_layers(self, student):
        """Whatever is not that layer's W_O is as before, also if its name begins or ends like it."""
        self.looks_like_an_ablation(student)
        alike = numbers_of_a_model(64, layers=13)
        alike |= {f"reader.{name}": 2 * value for name, value in alike.items() if name.startswith("blocks.1.")}
        for layer, weights in ((0, NUMBERS), (2, NUMBERS), (1, alike)):
            for name, value in self.numbers(student, weights, layer, 1, HEADS).items():
                if name in weights and name != f"blocks.{layer}.attention.W_O.weight":
                    hint = "Which layer was asked for, and which of its matrices?"
                    expect.close(value, weights[name], hint, f"without head 1 of layer {layer}, {name}", EXACT)

    @pytest.mark.weight(0.2)
    def test_one_head(self, student):
        """With one head alone, all of it is gone; with six, one column."""
        self.looks_like_an_ablation(student)
        for heads, left in ((1, 0), (6, 5)):
            got = self.W_O(student, 2, 0, num_heads=heads)
            if np.count_nonzero(got.any(axis=0)) != left:
                expect.fail(f"with num_heads={heads}, other columns are zero than head 0's.", "How wide is a head now?")

    @pytest.mark.weight(0.15)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_ablation(student)
        for dtype in (np.float32, np.float64):
            got = student.ablate(numbers_of_a_model(61, dtype), 1, 1, HEADS)["blocks.1.attention.W_O.weight"]
            expect.dtype(got, dtype, "Is a tensor made on the way, and of which dtype?", "W_O")

    @pytest.mark.weight(0.5)
    def test_arguments(self, student):
        """The weights that came in are not changed; arguments may come by keyword."""
        self.looks_like_an_ablation(student)
        after = student.ablate.inputs_after(numbers_of_a_model(62), 0, 1, HEADS)[0]
        before = numbers_of_a_model(62)
        hint = "A dict holds tensors. If a new dict holds the same ones, whose numbers are set to zero?"
        if not isinstance(after, dict) or after.keys() != before.keys():
            expect.fail("the dict that came in has other names after the call.", hint)
        expect.unchanged(list(after.values()), list(before.values()), list(before), hint)
        named = self.numbers(student, num_heads=HEADS, head=1, layer=2, weights=NUMBERS)
        for name, value in self.numbers(student, NUMBERS, 2, 1, HEADS).items():
            expect.close(named.get(name, np.nan), value, "", f"with arguments by keyword, {name}", EXACT)
