"""Hidden suite of a9: scores that tell heads apart, heads silenced and replaced, and what a head's matrices do.

Sizes differ: B=4 texts, h=3 heads, L=6 words and the like. Attention weights are causal, all of them above zero where a
word may look, and no two alike. Values have tests of their own; everything else is judged by properties of the
student's own function. A test's weight is its points: they add up to those of the cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal
from autograder.attention.hidden.properties import responds, same_item_by_item
from autograder.attention.hidden.unbatched import Unbatched
from autograder.suites import expect
from autograder.suites.recipes import note

ATOL = 1e-5  # honest float64 work is within 1e-14 of the reference, the mildest known mistake 0.005 away
LAYOUT = "Is memory read in the order of the axes?"
ON_AN_ARGUMENT = "Look for operators like *= on an argument, and for `argument[...] = ...`."


def weights_of(seed: int, h: int, L: int) -> np.ndarray:
    """Attention weights of h heads on L words, (h, L, L): causal, rows that sum to 1, all above zero."""
    made = np.tril(np.random.default_rng(seed).uniform(0.1, 1, size=(h, L, L)))
    made = made / made.sum(-1, keepdims=True)
    drawn = f"np.tril(np.random.default_rng({seed}).uniform(0.1, 1, size=({h}, {L}, {L})))"
    note(made, f"(lambda w: w / w.sum(-1, keepdims=True))({drawn})")
    return made


def always_looking(key_of: Any, L: int) -> np.ndarray:
    """A head that puts all its weight on the key `key_of(query)`, on the first word where there is none, (L, L)."""
    return np.eye(L)[[max(0, key_of(query)) for query in range(L)]]


def numbers(got: Any) -> np.ndarray:
    """One number a head. A list of numbers counts as an array: whether it is one, `test_shape` asks."""
    if isinstance(got, list | tuple) and got and all(isinstance(n, int | float | np.generic) for n in got):
        got = np.array(got)
    return np.asarray(expect.numbers(got))


def only_changes(before: np.ndarray, after: np.ndarray, index: int, hint: str, what: str) -> None:
    """Along the first axis, `index` alone changes."""
    expect.shape(after, before.shape, hint)
    changed = ~np.isclose(before, after, rtol=0, atol=ATOL)
    moved = [i for i in range(len(before)) if np.any(changed[i])]
    if moved != [index]:
        expect.fail(f"when only the numbers of head {index} change, it is not {what} of head {index} that moves.", hint)


class Scores:
    """What both scores promise, whatever they look for."""

    NAME = ""
    MORE: tuple[Any, ...] = ()  # arguments after the weights, for a text of seven words
    W = staticmethod(lambda seed=901: weights_of(seed, 3, 7))

    def score(self, student: Any, weights: np.ndarray, *more: Any, **named: Any) -> np.ndarray:
        """The scores as numbers."""
        got = self.loosely(student, weights, *more, **named)
        self.one_a_head(got, weights)
        return got

    def one_a_head(self, got: np.ndarray, weights: np.ndarray) -> None:
        """The shape; of whatever size, it is one cause."""
        if got.shape != (len(weights),):
            text = f"the result has shape {got.shape}, it should be {(len(weights),)}."
            expect.fail(text, "One number a head.", "the shape of the scores", got, (len(weights),))

    def loosely(self, student: Any, weights: np.ndarray, *more: Any, **named: Any) -> np.ndarray:
        """The same in whatever shape, where another one is not to cost marks once more."""
        return numbers(getattr(student, self.NAME)(weights, *(more or self.MORE), **named))

    def looks_like_an_attempt(self, student: Any) -> None:
        """Other weights give other scores."""
        responds(lambda weights: self.loosely(student, weights), [self.W()], [self.W(902)], ["weights"])

    def does_not_count(self, student: Any, rows: slice, hint: str) -> None:
        """Whatever these queries look at, the scores stay."""
        self.looks_like_an_attempt(student)
        weights = self.W()
        other = weights.copy()
        other[:, rows] = self.W(903)[:, rows]
        if rows == slice(0, 1):  # the first word can look at nobody else; here it does
            other[:, 0] = np.linspace(0.1, 0.7, 7)
        got, plain = self.loosely(student, other), self.loosely(student, weights)
        if got.shape != plain.shape or not np.allclose(got, plain, atol=ATOL):
            self.one_a_head(got, weights)  # another shape is the plainer reason
        expect.close(got, plain, hint, "a score", ATOL)

    def heads_apart(self, student: Any) -> None:
        """A head's score hangs on that head alone."""
        weights, other = self.W(), self.W().copy()
        other[1] = self.W(904)[1]
        hint = "Over which axes do you take the mean, and which one must stay?"
        only_changes(self.score(student, weights), self.score(student, other), 1, hint, "the score")

    def keeps_dtype(self, student: Any) -> None:
        """float32 stays float32."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = getattr(student, self.NAME)(self.W().astype(dtype), *self.MORE)
            expect.dtype(expect.numbers(got), dtype, "Is an array made on the way, and of which dtype?")

    def keeps_arguments(self, student: Any, **named: Any) -> None:
        """Keywords, layout, and arguments as they were."""
        self.looks_like_an_attempt(student)
        view = np.asfortranarray(self.W())
        plain = self.loosely(student, self.W())
        by_name = numbers(getattr(student, self.NAME)(**named, weights=view))
        expect.close(by_name, plain, LAYOUT, atol=ATOL)
        after = getattr(student, self.NAME).inputs_after(view, *self.MORE)
        expect.unchanged(after, [view, *self.MORE], ["weights", "period"], ON_AN_ARGUMENT)


@pytest.mark.exercise("previous_token_score")
class TestPreviousTokenScore(Scores):
    NAME = "previous_token_score"

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Three heads on seven words: an array of three numbers."""
        expect.array(student.previous_token_score(self.W()))
        self.score(student, self.W())

    @pytest.mark.weight(1.55)
    def test_values(self, student, reference):
        """A head's score is the mean weight that a word puts on the word before it."""
        hint = "Take one head of four words by hand: which weights are on the word before, and how many are there?"
        for seed, h, L in ((911, 3, 7), (912, 2, 9), (913, 5, 4)):
            weights = weights_of(seed, h, L)
            wanted = reference.previous_token_score(weights)
            expect.close(self.score(student, weights), wanted, hint, "the score", ATOL)

    @pytest.mark.weight(0.3)
    def test_plain_heads(self, student):
        """A head that always looks at the word before has score 1, one that looks two words back, or at itself, 0."""
        self.looks_like_an_attempt(student)
        heads = np.stack([always_looking(lambda i, back=back: i - back, 8) for back in (1, 0, 3)])
        heads[2, :4] = np.eye(8)[:4]  # the first four have no word so far back, and look at themselves
        hint = "How many words have a word before them? By how many do you divide?"
        expect.close(self.score(student, heads), np.array([1.0, 0.0, 0.0]), hint, "the score", ATOL)

    @pytest.mark.weight(0.3)
    def test_first_word(self, student):
        """What the first word looks at does not count."""
        self.does_not_count(student, slice(0, 1), "Which word stands before the first? Where does index -1 lead to?")

    @pytest.mark.weight(0.2)
    def test_heads_apart(self, student):
        """A head's score hangs on that head's weights alone."""
        self.heads_apart(student)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.keeps_dtype(student)

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """The weights may come by keyword and with any layout in memory, and are not changed."""
        self.keeps_arguments(student)


@pytest.mark.exercise("induction_score")
class TestInductionScore(Scores):
    NAME, MORE = "induction_score", (4,)

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """Three heads on seven words that come again after four: an array of three numbers."""
        expect.array(student.induction_score(self.W(), 4))
        self.score(student, self.W())

    @pytest.mark.weight(1.4)
    def test_values(self, student, reference):
        """The mean weight, in the second round, on the word that stood after the same word in the first round."""
        hint = "Write down a text of three words, twice. Where does the second `b` look if it wants to know what comes?"
        for seed, h, period in ((921, 3, 4), (922, 2, 6), (923, 5, 3)):
            weights = weights_of(seed, h, 2 * period)
            wanted = reference.induction_score(weights, period)
            expect.close(self.score(student, weights, period), wanted, hint, "the score", ATOL)

    @pytest.mark.weight(0.7)
    def test_second_round_cut_short(self, student, reference):
        """The same if the text ends before the second round does."""
        hint = "How many words are in the second round: is it always `period`? Which is the last query?"
        for seed, h, L, period in ((924, 3, 7, 4), (925, 2, 8, 6), (926, 4, 6, 5)):
            weights = weights_of(seed, h, L)
            wanted = reference.induction_score(weights, period)
            expect.close(self.score(student, weights, period), wanted, hint, "the score", ATOL)

    @pytest.mark.weight(0.4)
    def test_plain_heads(self, student):
        """A head that always looks there has score 1; at the same word, or at the word before: 0."""
        self.looks_like_an_attempt(student)
        heads = np.stack([always_looking(lambda i, back=back: i - back, 10) for back in (4, 5, 1)])
        hint = "The head that copies stands at a word it has met before. Does it look at that word, or at the next one?"
        expect.close(self.score(student, heads, 5), np.array([1.0, 0.0, 0.0]), hint, "the score", ATOL)

    @pytest.mark.weight(0.35)
    def test_first_round(self, student):
        """What the words of the first round look at does not count."""
        self.does_not_count(student, slice(0, 4), "Which query is the first that has been met before?")

    @pytest.mark.weight(0.2)
    def test_heads_apart(self, student):
        """A head's score hangs on that head's weights alone."""
        self.heads_apart(student)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.keeps_dtype(student)

    @pytest.mark.weight(0.4)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.keeps_arguments(student, period=4)


@pytest.mark.exercise("mean_ablate")
class TestMeanAblate:
    FOUND = normal(931, 4, 3, 6, 5)  # (B, h, L, d_v)

    def ablated(self, student: Any, found: np.ndarray, head: int) -> np.ndarray:
        """The answer, in the shape that came in."""
        got = self.loosely(student, found, head)
        expect.shape(got, found.shape, "Everybody else still says what they said.")
        return got

    def loosely(self, student: Any, found: np.ndarray, head: int) -> np.ndarray:
        """The same in whatever shape, where another one is not to cost marks once more."""
        return expect.array(student.mean_ablate(found, head))

    def looks_like_an_attempt(self, student: Any) -> None:
        """The answer hangs on what was found, and that head is not as it was."""
        responds(lambda found: self.loosely(student, found, 1), [self.FOUND], [normal(932, 4, 3, 6, 5)], ["found"])
        got = self.loosely(student, self.FOUND, 1)
        if got.shape == self.FOUND.shape and np.allclose(got[:, 1], self.FOUND[:, 1]):
            expect.fail("head 1 says what it said before.", "What is put in its place?")

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """Four texts, three heads, six words, width five: the same shape comes back."""
        self.ablated(student, self.FOUND, 1)

    @pytest.mark.weight(1.35)
    def test_values(self, student, reference):
        """That head has, at each place, the mean of what it found there in all the texts."""
        hint = "What should this head say at place 2: which numbers is that the mean of, and how many?"
        for seed, shape, head in ((933, (4, 3, 6, 5), 1), (934, (3, 5, 4, 2), 4), (935, (5, 2, 3, 4), 0)):
            found = normal(seed, *shape)
            got, wanted = self.ablated(student, found, head), reference.mean_ablate(found, head)
            expect.close(got[:, head], wanted[:, head], hint, f"what head {head} says", ATOL)

    @pytest.mark.weight(1.25)
    def test_other_heads(self, student):
        """All other heads say what they said."""
        self.looks_like_an_attempt(student)
        for head in (0, 2):
            got = np.delete(self.ablated(student, self.FOUND, head), head, axis=1)
            kept = np.delete(self.FOUND, head, axis=1)
            hint = "Which axis are the heads, and whose numbers have you replaced?"
            expect.close(got, kept, hint, f"what is left when head {head} is taken away", ATOL)

    @pytest.mark.weight(0.4)
    def test_tells_nothing(self, student):
        """What the head says is the same in every text, so it tells nobody which text this is."""
        self.looks_like_an_attempt(student)
        said = self.ablated(student, self.FOUND, 1)[:, 1]
        hint = "Over which axis is the mean, and does every text get it?"
        expect.close(said, np.broadcast_to(said[:1], said.shape), hint, "what head 1 says", ATOL)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            hint = "Is an array made on the way, and of which dtype?"
            expect.dtype(self.loosely(student, self.FOUND.astype(dtype), 1), dtype, hint)

    @pytest.mark.weight(0.45)
    def test_arguments(self, student):
        """What came in is not changed; arguments may come by keyword and with any layout in memory."""
        self.looks_like_an_attempt(student)
        view = np.asfortranarray(self.FOUND)
        after = student.mean_ablate.inputs_after(view, 1)
        expect.unchanged(after, [view, 1], ["found", "head"], ON_AN_ARGUMENT)
        by_name = student.mean_ablate(head=1, found=view)
        expect.close(by_name, self.loosely(student, self.FOUND, 1), LAYOUT, atol=ATOL)


@pytest.mark.exercise("patch_head")
class TestPatchHead:
    FOUND, OTHER = normal(941, 3, 6, 5), normal(942, 3, 6, 5)  # (h, L, d_v)
    BATCHED = normal(943, 2, 3, 6, 5), normal(944, 2, 3, 6, 5)

    def patched(self, student: Any, found: np.ndarray, other: np.ndarray, head: int, place: int) -> np.ndarray:
        """The answer, in the shape that came in."""
        got = expect.array(Unbatched(student.patch_head, 3)(found, other, head, place))
        expect.shape(got, found.shape, "All heads, at all places.")
        return got

    def looks_like_an_attempt(self, student: Any) -> None:
        """Something of the first comes, and something of the second."""
        call = lambda found, other: self.patched(student, found, other, 1, 4)  # noqa: E731
        responds(call, [self.FOUND, self.OTHER], [normal(945, 3, 6, 5), None], ["found", "other"])
        responds(call, [self.FOUND, self.OTHER], [None, normal(946, 3, 6, 5)], ["found", "other"])

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Three heads, six words, width five: the same shape comes back."""
        self.patched(student, self.FOUND, self.OTHER, 1, 4)

    @pytest.mark.weight(1.6)
    def test_values(self, student, reference):
        """One head at one place says what it said in the other run, and all else is as it was in this one."""
        hint = "How many vectors change? Which one, and where does the new one come from?"
        for seed, shape, head, place in ((947, (3, 6, 5), 2, 3), (949, (5, 4, 2), 3, 0), (951, (4, 4, 3), 0, 1)):
            found, other = normal(seed, *shape), normal(seed + 1, *shape)
            got = self.patched(student, found, other, head, place)
            expect.close(got, reference.patch_head(found, other, head, place), hint, atol=ATOL)

    @pytest.mark.weight(0.4)
    def test_batch(self, student):
        """With one batch axis, or two, each text is treated like that text alone."""
        self.looks_like_an_attempt(student)
        hint = "Count the axes from the end: which one are the heads, which one the places?"
        call = lambda found, other: student.patch_head(found, other, 1, 4)  # noqa: E731
        same_item_by_item(call, self.BATCHED, 1, hint)
        two = [np.stack([part, 2 * part]) for part in self.BATCHED]
        expect.close(call(*two)[1, 0], call(two[0][1, 0], two[1][1, 0]), hint, "one text of two times two", ATOL)

    @pytest.mark.weight(0.2)
    def test_same_run(self, student):
        """A patch from the very same run changes nothing."""
        self.looks_like_an_attempt(student)
        got = self.patched(student, self.FOUND, self.FOUND, 2, 3)
        expect.close(got, self.FOUND, "Is something added to what is replaced?", atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.patched(student, self.FOUND.astype(dtype), self.OTHER.astype(dtype), 1, 4)
            expect.dtype(got, dtype, "Is an array made on the way, and of which dtype?")

    @pytest.mark.weight(0.35)
    def test_arguments(self, student):
        """Neither run is changed; arguments may come by keyword and with any layout in memory."""
        self.looks_like_an_attempt(student)
        function = Unbatched(student.patch_head, 3)
        views = [np.asfortranarray(self.FOUND), np.asfortranarray(self.OTHER)]
        after = function.inputs_after(*views, 1, 4)
        expect.unchanged(after[:2], views, ["found", "other"], ON_AN_ARGUMENT)
        by_name = function(place=4, head=1, other=views[1], found=views[0])
        expect.close(by_name, self.patched(student, self.FOUND, self.OTHER, 1, 4), LAYOUT, atol=ATOL)


def together(got: Any) -> np.ndarray:
    """The circuits as an array. A list of them counts as their stack: whether it is one array, `test_shape` asks."""
    parts = got if isinstance(got, list | tuple) else ()
    if all(isinstance(one, np.ndarray) for one in parts) and len({one.shape for one in parts}) == 1:
        got = np.stack(parts)
    return expect.array(got)


class Circuits:
    """What both circuits promise: one matrix a head, made of that head's own numbers."""

    NAME = ""
    NAMES: tuple[str, str] = ("", "")
    HEADS, D_MODEL = 3, 5

    def matrices(self, seed: int, h: int = 3, d: int = 4, d_model: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Two matrices of a layer of h heads of width d, in the shapes that this exercise takes."""
        raise NotImplementedError

    def head(self, matrices: tuple[np.ndarray, np.ndarray], head: int, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Views of the numbers of one head in them."""
        raise NotImplementedError

    def circuits(self, student: Any, matrices: tuple[np.ndarray, np.ndarray], h: int) -> np.ndarray:
        """The answer as an array, (h, d_model, d_model)."""
        got, width = self.loosely(student, matrices, h), matrices[0].shape[0]
        expect.shape(got, (h, width, width), "One matrix a head, from one word of width d_model to another.")
        return got

    def loosely(self, student: Any, matrices: tuple[np.ndarray, np.ndarray], h: int) -> np.ndarray:
        """The same in whatever shape, where another one is not to cost marks once more."""
        return together(getattr(student, self.NAME)(*matrices, h))

    def looks_like_an_attempt(self, student: Any) -> None:
        """Other matrices give other circuits."""
        call = lambda one, other: self.loosely(student, (one, other), self.HEADS)  # noqa: E731
        responds(call, self.matrices(960), self.matrices(962), self.NAMES)

    def compare(self, student: Any, reference: Any, hint: str) -> None:
        """Against the reference, for several sizes."""
        for seed, h, d, d_model in ((964, 3, 4, 5), (966, 2, 3, 6), (968, 4, 2, 7)):
            given = self.matrices(seed, h, d, d_model)
            wanted = getattr(reference, self.NAME)(*given, h)
            expect.close(self.circuits(student, given, h), wanted, hint, "the circuits", ATOL)

    def own_numbers(self, student: Any) -> None:
        """A head's circuit hangs on that head's numbers alone."""
        given = self.matrices(960)
        before = self.circuits(student, given, self.HEADS)
        other = (given[0].copy(), given[1].copy())
        for part, fresh in zip(self.head(other, 1, 4), self.head(self.matrices(962), 1, 4), strict=True):
            part[...] = fresh
        hint = "Which columns are this head's own, and which rows?"
        only_changes(before, self.circuits(student, other, self.HEADS), 1, hint, "the circuit")

    def narrow(self, student: Any) -> None:
        """Each circuit has rank d at most."""
        self.looks_like_an_attempt(student)
        for h, d in ((2, 1), (3, 2), (1, 3)):
            got = self.circuits(student, self.matrices(970 + h, h, d, 6), h)
            ranks = np.linalg.matrix_rank(got.astype(float), tol=1e-6)
            if np.any(ranks != d):
                expect.fail(f"with {d} numbers a head, there is a circuit of rank {int(ranks.max())}.",
                            "How many numbers does this head squeeze a word into?")  # fmt: skip

    def keeps_dtype(self, student: Any) -> None:
        """float32 stays float32."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            one, other = self.matrices(960)
            got = self.loosely(student, (one.astype(dtype), other.astype(dtype)), self.HEADS)
            expect.dtype(got, dtype, "Is an array made on the way, and of which dtype?")

    def keeps_arguments(self, student: Any) -> None:
        """Keywords, layout, and arguments as they were."""
        self.looks_like_an_attempt(student)
        given = self.matrices(960)
        views = [np.asfortranarray(part) for part in given]
        function = getattr(student, self.NAME)
        by_name = function(num_heads=self.HEADS, **dict(zip(self.NAMES[::-1], views[::-1], strict=True)))
        expect.close(together(by_name), self.loosely(student, given, self.HEADS), LAYOUT, atol=ATOL)
        after = function.inputs_after(*views, self.HEADS)
        expect.unchanged(after[:2], views, list(self.NAMES), ON_AN_ARGUMENT)


@pytest.mark.exercise("qk_circuit")
class TestQkCircuit(Circuits):
    NAME, NAMES = "qk_circuit", ("W_Q", "W_K")

    def matrices(self, seed, h=3, d=4, d_model=5):
        """W_Q and W_K, (d_model, h * d) each."""
        return normal(seed, d_model, h * d), normal(seed + 1, d_model, h * d)

    def head(self, matrices, head, d):
        """The head's columns of both."""
        return matrices[0][:, head * d : (head + 1) * d], matrices[1][:, head * d : (head + 1) * d]

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Three heads of width four, d_model five: one array of shape (3, 5, 5)."""
        expect.array(student.qk_circuit(*self.matrices(960), self.HEADS))
        self.circuits(student, self.matrices(960), self.HEADS)

    @pytest.mark.weight(1.6)
    def test_values(self, student, reference):
        """Between two words, x_i M x_j is the dot product of that head's query of x_i and key of x_j."""
        hint = "A query is x_i times what, and a key x_j times what? Write down q . k, and read off what is in between."
        self.compare(student, reference, hint)

    @pytest.mark.weight(0.35)
    def test_own_columns(self, student):
        """A head's circuit hangs on that head's columns alone."""
        self.own_numbers(student)

    @pytest.mark.weight(0.2)
    def test_narrow(self, student):
        """A head of width d has a circuit of rank d."""
        self.narrow(student)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.keeps_dtype(student)

    @pytest.mark.weight(0.4)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.keeps_arguments(student)


@pytest.mark.exercise("ov_circuit")
class TestOvCircuit(Circuits):
    NAME, NAMES = "ov_circuit", ("W_V", "W_O")

    def matrices(self, seed, h=3, d=4, d_model=5):
        """W_V, (d_model, h * d), and W_O, (h * d, d_model)."""
        return normal(seed, d_model, h * d), normal(seed + 1, h * d, d_model)

    def head(self, matrices, head, d):
        """The head's columns of W_V and rows of W_O."""
        return matrices[0][:, head * d : (head + 1) * d], matrices[1][head * d : (head + 1) * d]

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Three heads of width four, d_model five: one array of shape (3, 5, 5)."""
        expect.array(student.ov_circuit(*self.matrices(960), self.HEADS))
        self.circuits(student, self.matrices(960), self.HEADS)

    @pytest.mark.weight(1.6)
    def test_values(self, student, reference):
        """x_j M is what that head adds to a word that looks at x_j with all its weight."""
        hint = "Follow one word: through which matrix does it go to become a value, and through which rows to get out?"
        self.compare(student, reference, hint)

    @pytest.mark.weight(0.35)
    def test_own_numbers(self, student):
        """A head's circuit hangs on that head's columns of W_V and rows of W_O alone."""
        self.own_numbers(student)

    @pytest.mark.weight(0.2)
    def test_narrow(self, student):
        """A head of width d has a circuit of rank d."""
        self.narrow(student)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.keeps_dtype(student)

    @pytest.mark.weight(0.4)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.keeps_arguments(student)
