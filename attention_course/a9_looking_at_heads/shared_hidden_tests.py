"""What the hidden tests of a9 share: tests of any score, and of any circuit.

Sizes differ: B=4 texts, h=3 heads, L=6 words and the like; `test_real_sizes` has real sizes and the smallest ones.
Attention weights are causal, above zero wherever a word may look, and no two are equal. Values have tests of their own;
everything else is judged by properties of the student's own function. A test's weight is its points; together they are
the points of the cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.testing import expect, note

from ..hidden.inputs import normal
from ..hidden.properties import ANY_SIZE, holds_in, responds

ATOL = 1e-5  # correct float64 code is within 1e-14 of the reference, the mildest known mistake 0.005 away
LAYOUT = "Is memory read in the order of the axes?"
ON_AN_ARGUMENT = "Look for operators like *= on an argument, and for `argument[...] = ...`."


def weights_of(seed: int, h: int, L: int) -> np.ndarray:
    """Attention weights of h heads on L words, (h, L, L): causal and above zero, with rows that sum to 1."""
    weights = np.tril(np.random.default_rng(seed).uniform(0.1, 1, size=(h, L, L)))
    weights = weights / weights.sum(-1, keepdims=True)
    drawn = f"np.tril(np.random.default_rng({seed}).uniform(0.1, 1, size=({h}, {L}, {L})))"
    note(weights, f"(lambda w: w / w.sum(-1, keepdims=True))({drawn})")
    return weights


def always_looking(key_of: Any, L: int) -> np.ndarray:
    """A head that puts all its weight on the key `key_of(query)`, or on the first word if there is none; (L, L)."""
    return np.eye(L)[[max(0, key_of(query)) for query in range(L)]]


def numbers(got: Any) -> np.ndarray:
    """One number for each head. A list of numbers counts as an array; `test_shape` asks for an array."""
    if isinstance(got, list | tuple) and got and all(isinstance(n, int | float | np.generic) for n in got):
        got = np.array(got)
    return np.asarray(expect.numbers(got))


def only_changes(before: np.ndarray, after: np.ndarray, index: int, hint: str, what: str) -> None:
    """Fails unless only `index` changes along the first axis."""
    expect.shape(after, before.shape, hint)
    changed = ~np.isclose(before, after, rtol=0, atol=ATOL)
    moved = [i for i in range(len(before)) if np.any(changed[i])]
    if moved != [index]:
        expect.fail(f"when only the numbers of head {index} change, it is not {what} of head {index} that moves.", hint)


class Scores:
    """Tests of both scores."""

    NAME = ""
    MORE: tuple[Any, ...] = ()  # arguments after the weights, for a text of seven words
    W = staticmethod(lambda seed=901: weights_of(seed, 3, 7))

    def score(self, student: Any, weights: np.ndarray, *more: Any, **named: Any) -> np.ndarray:
        """The scores as numbers."""
        got = self.loosely(student, weights, *more, **named)
        self.one_a_head(got, weights)
        return got

    def one_a_head(self, got: np.ndarray, weights: np.ndarray) -> None:
        """Fails unless there is one score for each head. Every wrong shape counts as one cause."""
        if got.shape != (len(weights),):
            text = f"the result has shape {got.shape}, it should be {(len(weights),)}."
            expect.fail(text, "One number per head.", "the shape of the scores", got, (len(weights),))

    def loosely(self, student: Any, weights: np.ndarray, *more: Any, **named: Any) -> np.ndarray:
        """The same in any shape, for tests in which a wrong shape must not cost points again."""
        return numbers(getattr(student, self.NAME)(weights, *(more or self.MORE), **named))

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless other weights give other scores. Not causal, in case the code confuses rows and columns."""
        full, other = (
            made / made.sum(-1, keepdims=True) for made in (normal(905, 3, 7, 7) ** 2, normal(906, 3, 7, 7) ** 2)
        )
        responds(lambda weights: self.loosely(student, weights), [full], [other], ["weights"])

    def at_sizes(self, student: Any, reference: Any, cases: Any, *tests: Any) -> None:
        """Fails unless the scores are the reference's. A case is: heads, words, and the remaining arguments."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, *tests)
        for number, (h, L, *more) in enumerate(cases):
            weights = weights_of(907 + number, h, L)
            wanted, got = getattr(reference, self.NAME)(weights, *more), self.loosely(student, weights, *more)
            if plain:
                self.one_a_head(got, weights)
                expect.close(got, wanted, ANY_SIZE, "the score", ATOL)

    def does_not_count(self, student: Any, rows: slice, hint: str) -> None:
        """Fails if the scores depend on what these queries look at."""
        self.looks_like_an_attempt(student)
        weights = self.W()
        other = weights.copy()
        other[:, rows] = self.W(903)[:, rows]
        if rows == slice(0, 1):  # a first word can see only itself, but here it looks at all
            other[:, 0] = np.linspace(0.1, 0.7, 7)
        got, plain = self.loosely(student, other), self.loosely(student, weights)
        if got.shape != plain.shape or not np.allclose(got, plain, atol=ATOL):
            self.one_a_head(got, weights)  # a wrong shape is the simpler explanation
        expect.close(got, plain, hint, "a score", ATOL)

    def heads_apart(self, student: Any) -> None:
        """Fails unless a head's score depends on that head alone."""
        weights, other = self.W(), self.W().copy()
        other[1] = self.W(904)[1]
        hint = "Over which axes do you take the mean, and which one must stay?"
        only_changes(self.score(student, weights), self.score(student, other), 1, hint, "the score")

    def keeps_dtype(self, student: Any) -> None:
        """Fails unless float32 stays float32."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = getattr(student, self.NAME)(self.W().astype(dtype), *self.MORE)
            expect.dtype(expect.numbers(got), dtype, "Is an array made on the way, and of which dtype?")

    def keeps_arguments(self, student: Any, **named: Any) -> None:
        """Fails unless keywords work, the memory layout does not matter, and arguments stay unchanged."""
        self.looks_like_an_attempt(student)
        view = np.asfortranarray(self.W())
        plain = self.loosely(student, self.W())
        by_name = numbers(getattr(student, self.NAME)(**named, weights=view))
        expect.close(by_name, plain, LAYOUT, atol=ATOL)
        after = getattr(student, self.NAME).inputs_after(view, *self.MORE)
        expect.unchanged(after, [view, *self.MORE], ["weights", "period"], ON_AN_ARGUMENT)


def together(got: Any) -> np.ndarray:
    """The circuits as an array. A list of them counts as their stack; `test_shape` asks for one array."""
    parts = got if isinstance(got, list | tuple) else ()
    if all(isinstance(part, np.ndarray) for part in parts) and len({part.shape for part in parts}) == 1:
        got = np.stack(parts)
    return expect.array(got)


class Circuits:
    """Tests of both circuits: one matrix for each head, made from that head's numbers only."""

    NAME = ""
    NAMES: tuple[str, str] = ("", "")
    HEADS, D_MODEL = 3, 5

    def matrices(self, seed: int, h: int = 3, d: int = 4, d_model: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Two matrices of a layer with h heads of width d, in the shapes that this exercise takes."""
        raise NotImplementedError

    def head(self, matrices: tuple[np.ndarray, np.ndarray], head: int, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Views of one head's part of the two matrices."""
        raise NotImplementedError

    def circuits(self, student: Any, matrices: tuple[np.ndarray, np.ndarray], h: int) -> np.ndarray:
        """The answer as an array, (h, d_model, d_model)."""
        got, width = self.loosely(student, matrices, h), matrices[0].shape[0]
        expect.shape(got, (h, width, width), "One matrix per head, from one word of width d_model to another.")
        return got

    def loosely(self, student: Any, matrices: tuple[np.ndarray, np.ndarray], h: int) -> np.ndarray:
        """The same in any shape, for tests in which a wrong shape must not cost points again."""
        return together(getattr(student, self.NAME)(*matrices, h))

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless other matrices give other circuits."""
        call = lambda first, second: self.loosely(student, (first, second), self.HEADS)  # noqa: E731
        responds(call, self.matrices(960), self.matrices(962), self.NAMES)

    def compare(self, student: Any, reference: Any, hint: str) -> None:
        """Fails unless the circuits are the reference's, at several sizes."""
        for seed, h, d, d_model in ((964, 3, 4, 5), (966, 2, 3, 6), (968, 4, 2, 7)):
            given = self.matrices(seed, h, d, d_model)
            wanted = getattr(reference, self.NAME)(*given, h)
            expect.close(self.circuits(student, given, h), wanted, hint, "the circuits", ATOL)

    def at_sizes(self, student: Any, reference: Any, values: Any) -> None:
        """The same at the sizes of a real model, and at the smallest ones."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, values)
        for number, (h, d, d_model) in enumerate([(8, 12, 96), (2, 32, 8), (300, 1, 2), (1, 3, 1), (1, 1, 33)]):
            given = self.matrices(980 + 2 * number, h, d, d_model)
            wanted, got = getattr(reference, self.NAME)(*given, h), self.loosely(student, given, h)
            if plain:
                expect.close(got, wanted, ANY_SIZE, "the circuits", ATOL)

    def own_numbers(self, student: Any) -> None:
        """Fails unless a head's circuit depends on that head's numbers alone."""
        given = self.matrices(960)
        before = self.circuits(student, given, self.HEADS)
        other = (given[0].copy(), given[1].copy())
        for part, fresh in zip(self.head(other, 1, 4), self.head(self.matrices(962), 1, 4), strict=True):
            part[...] = fresh
        hint = "Which columns are this head's own, and which rows?"
        only_changes(before, self.circuits(student, other, self.HEADS), 1, hint, "the circuit")

    def narrow(self, student: Any) -> None:
        """Fails unless each circuit has rank d."""
        self.looks_like_an_attempt(student)
        for h, d in ((2, 1), (3, 2), (1, 3)):
            got = self.circuits(student, self.matrices(970 + h, h, d, 6), h)
            ranks = np.linalg.matrix_rank(got.astype(float), tol=1e-6)
            if np.any(ranks != d):
                expect.fail(f"with {d} numbers a head, there is a circuit of rank {int(ranks.max())}.",
                            "How many numbers does this head squeeze a word into?")  # fmt: skip

    def keeps_dtype(self, student: Any) -> None:
        """Fails unless float32 stays float32."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            matrices = tuple(matrix.astype(dtype) for matrix in self.matrices(960))
            got = self.loosely(student, matrices, self.HEADS)
            expect.dtype(got, dtype, "Is an array made on the way, and of which dtype?")

    def keeps_arguments(self, student: Any) -> None:
        """Fails unless keywords work, the memory layout does not matter, and arguments stay unchanged."""
        self.looks_like_an_attempt(student)
        given = self.matrices(960)
        views = [np.asfortranarray(part) for part in given]
        function = getattr(student, self.NAME)
        by_name = function(num_heads=self.HEADS, **dict(zip(self.NAMES[::-1], views[::-1], strict=True)))
        expect.close(together(by_name), self.loosely(student, given, self.HEADS), LAYOUT, atol=ATOL)
        after = function.inputs_after(*views, self.HEADS)
        expect.unchanged(after[:2], views, list(self.NAMES), ON_AN_ARGUMENT)
