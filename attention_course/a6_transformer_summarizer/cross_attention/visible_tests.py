"""Visible tests of cross_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown

# Three texts of three words ask, three memories of four places answer, in two heads: no two sizes are alike.
ASKING = {
    "x": np.array(
        [
            [[2.0, -1.0, 0.0, -1.0, -1.0], [-1.0, -2.0, 0.0, 0.0, 0.0], [-2.0, -2.0, 1.0, 1.0, 0.0]],
            [[2.0, 1.0, -1.0, -2.0, 2.0], [1.0, 0.0, -1.0, 2.0, 0.0], [2.0, 2.0, 2.0, 2.0, -2.0]],
            [[-1.0, 1.0, 2.0, -2.0, 0.0], [-1.0, -2.0, 0.0, 0.0, 1.0], [0.0, -1.0, 0.0, 0.0, 1.0]],
        ]
    ),
    "memory": np.array(
        [
            [
                [-2.0, 2.0, -1.0, 1.0, -2.0, 0.0, -2.0],
                [2.0, -1.0, 1.0, -1.0, 2.0, 1.0, -1.0],
                [2.0, 1.0, 1.0, 0.0, 2.0, 1.0, 2.0],
                [1.0, -2.0, 0.0, 2.0, -2.0, -1.0, -1.0],
            ],
            [
                [-1.0, 1.0, 2.0, 0.0, -1.0, 0.0, 1.0],
                [0.0, -1.0, 1.0, 0.0, 2.0, -2.0, 1.0],
                [-1.0, -1.0, -1.0, -1.0, 0.0, 2.0, 2.0],
                [-1.0, 0.0, 2.0, 0.0, 2.0, 0.0, 1.0],
            ],
            [
                [2.0, -1.0, 1.0, 1.0, -2.0, 0.0, 1.0],
                [2.0, 1.0, -2.0, -1.0, -2.0, -2.0, 2.0],
                [0.0, 0.0, 2.0, -2.0, -1.0, -2.0, 1.0],
                [-1.0, -2.0, 0.0, -1.0, 1.0, 2.0, -1.0],
            ],
        ]
    ),
    "W_Q": np.array(
        [
            [0.0, -0.5, -0.5, 0.0, 0.0, 0.5, -0.5, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, -0.5, 0.0, 0.5],
            [0.0, -0.5, 0.0, 0.5, 0.5, -0.5, -0.5, 0.5],
            [0.5, 0.0, 0.5, 0.0, 0.5, -0.5, -0.5, -0.5],
            [0.0, 0.0, 0.0, 0.0, -0.5, 0.0, 0.5, 0.0],
        ]
    ),
    "W_K": np.array(
        [
            [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0],
            [0.5, 0.0, -0.5, 0.5, 0.5, -0.5, 0.5, 0.5],
            [0.0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, -0.5],
            [0.0, -0.5, 0.5, -0.5, 0.0, 0.0, -0.5, 0.5],
            [-0.5, 0.0, 0.0, 0.5, 0.0, 0.0, -0.5, 0.0],
            [-0.5, 0.5, -0.5, -0.5, 0.5, 0.0, 0.0, 0.5],
            [-0.5, -0.5, 0.0, 0.5, 0.0, 0.5, -0.5, 0.0],
        ]
    ),
    "W_V": np.array(
        [
            [1.0, 1.0, 0.0, 1.0, -1.0, 1.0],
            [-1.0, 1.0, -1.0, 1.0, 1.0, -1.0],
            [1.0, -1.0, 1.0, 0.0, -1.0, -1.0],
            [-1.0, 1.0, 1.0, 1.0, 0.0, -1.0],
            [1.0, 1.0, 0.0, 1.0, 1.0, 0.0],
            [-1.0, 1.0, 1.0, -1.0, -1.0, 1.0],
            [1.0, -1.0, 1.0, -1.0, 0.0, 0.0],
        ]
    ),
    "W_O": np.array(
        [
            [0.0, 1.0, 1.0, 1.0, 1.0],
            [1.0, -1.0, 1.0, 1.0, -1.0],
            [1.0, -1.0, -1.0, 1.0, 0.0],
            [0.0, -1.0, 1.0, 0.0, 1.0],
            [1.0, -1.0, 0.0, -1.0, 1.0],
            [-1.0, -1.0, 1.0, 1.0, 1.0],
        ]
    ),
}
ANSWERED_WEIGHTS = np.array(
    [
        [[0.5819, 0.0695, 0.3114, 0.0372], [0.1102, 0.3845, 0.2058, 0.2995], [0.0314, 0.2976, 0.1805, 0.4906]],
        [[0.0429, 0.1167, 0.3173, 0.5231], [0.0733, 0.422, 0.1759, 0.3287], [0.1713, 0.4655, 0.2823, 0.0809]],
    ]
)
ANSWERED = np.array(
    [
        [
            [-2.2232, -4.3867, 1.6138, 0.3123, -6.805],
            [-1.2553, -1.9335, 5.251, 8.5103, 0.4906],
            [-0.2471, -2.8336, 4.1047, 7.2351, 2.2983],
        ],
        [
            [-1.5582, 1.8382, -7.2906, 3.5499, -0.5107],
            [1.5581, 4.5194, -4.3899, -1.4589, 5.0748],
            [0.5233, 9.3246, -2.502, 1.4608, 5.5659],
        ],
        [
            [-8.9851, 9.5392, 0.7711, 2.4277, 5.6194],
            [-2.967, 8.1737, -3.7777, 1.3858, 2.5199],
            [-4.7837, 7.5157, -1.565, 1.7837, 3.2343],
        ],
    ]
)
# Of the first memory the last place is padding, of the second one the first, of the third all.
REAL = np.array([[[True, True, True, False]], [[False, True, True, True]], [[False, False, False, False]]])
REAL_WEIGHTS = np.array(
    [
        [
            [[0.6043, 0.0722, 0.3235, 0.0], [0.1573, 0.5489, 0.2938, 0.0], [0.0616, 0.5841, 0.3543, 0.0]],
            [[0.09, 0.2447, 0.6652, 0.0], [0.1092, 0.6287, 0.2621, 0.0], [0.1863, 0.5065, 0.3072, 0.0]],
        ],
        [
            [[0.0, 0.0051, 0.9747, 0.0202], [0.0, 0.5254, 0.1933, 0.2813], [0.0, 0.8247, 0.032, 0.1433]],
            [[0.0, 0.2408, 0.7417, 0.0174], [0.0, 0.5378, 0.136, 0.3262], [0.0, 0.0229, 0.2176, 0.7595]],
        ],
    ]
)
REAL_ANSWERED = np.array(
    [
        [
            [-1.3925, -7.1507, 2.8993, -0.6308, -4.3961],
            [-0.5161, -3.4132, 8.913, 10.4452, 2.2084],
            [1.4837, -2.3965, 9.0157, 11.2712, 3.2719],
        ],
        [
            [-1.6911, 1.6523, -7.1557, 3.7771, -0.3984],
            [2.1998, 5.5002, -1.058, 1.4506, 7.2079],
            [0.5675, 10.1638, -0.7603, 2.8304, 6.8275],
        ],
        [[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]],
    ]
)
# The first text ten thousand times as large.
SURE = np.array(
    [
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
        [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    ]
)


@pytest.mark.exercise("cross_attention")
class TestCrossAttention:
    # The example by hand: one head of d_k = 4, two words that ask, three that answer.
    EYE, W_K = np.eye(2), np.array([[1.0, 1.0, 0.0, 0.0], [2.0, -1.0, 0.0, 0.0]])
    MEMORY = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    BY_HAND = {"x": 2 * EYE, "memory": MEMORY, "W_Q": np.eye(2, 4), "W_K": W_K, "W_V": 10 * EYE, "W_O": EYE}

    def tensors(self, given, *more):
        import torch

        return [torch.from_numpy(array.copy()) for array in given.values()], *map(torch.from_numpy, more)

    def attend(self, student, given, num_heads, *padding):
        arguments, *more = self.tensors(given, *padding)
        output, weights = expect.pair(student.cross_attention(*arguments, num_heads, *more))
        return expect.tensor(output, what="output"), expect.tensor(weights, what="weights")

    def are_of_scores_times_a_number(self, weights):
        """Whether the weights of the example by hand are a softmax of its scores, all of them times one number."""
        scores = np.array([[1.0, 2.0, 3.0], [1.0, -1.0, 0.0]])
        if not ((weights > 0) & np.isfinite(weights)).all():
            return False
        logs, scores = (part - part[:, :1] for part in (np.log(weights), scores))
        return np.allclose(logs, scores * logs[0, 1], atol=1e-2)

    def of(self, text, x=1.0):
        """One of the three texts with its memory, the text so many times as large."""
        return ASKING | {"x": x * ASKING["x"][text], "memory": ASKING["memory"][text]}

    def drawn(self, words, places, num_heads):
        """A text and a memory of width 6, and matrices for heads of width 2, with numbers around 0."""
        random, wide = np.random.default_rng(words + places), 2 * num_heads
        shapes = {"x": (words, 6), "memory": (places, 6)} | dict.fromkeys(("W_Q", "W_K", "W_V"), (6, wide))
        return {name: random.normal(size=shape) / 2 for name, shape in (shapes | {"W_O": (wide, 6)}).items()}

    def test_weights(self, student):
        """The example by hand: a row for each of the two words that ask, a column for each of the three that answer."""
        question = "Which text do the queries come from, and which one the keys?"
        with shown(question, **self.BY_HAND, num_heads=1):
            weights = self.attend(student, self.BY_HAND, 1)[1]
        if np.shape(weights) == (1, 2, 3) and self.are_of_scores_times_a_number(expect.numbers(weights)[0]):
            question = "Your scores are the right ones times a number. By what is each divided?"
        with shown(question, **self.BY_HAND, num_heads=1):
            close(weights, [[[0.09, 0.2447, 0.6652], [0.6652, 0.09, 0.2447]]], "weights")

    def test_output(self, student):
        """The example by hand: the first word gets (7.6, 9.1), the second (9.1, 3.3)."""
        with shown("Whose values are blended, and with which weights?", **self.BY_HAND, num_heads=1):
            close(self.attend(student, self.BY_HAND, 1)[0], [[7.5527, 9.0997], [9.0997, 3.3476]], "output")

    def test_padding_by_hand(self, student):
        """The example by hand, with the third word of memory as padding."""
        real = np.array([[True, True, False]])
        with shown("Who shares in the sum of a row?", **self.BY_HAND, num_heads=1, memory_padding=real):
            output, weights = self.attend(student, self.BY_HAND, 1, real)
            close(weights, [[[0.2689, 0.7311, 0.0], [0.8808, 0.1192, 0.0]]], "weights")
            close(output, [[2.6894, 7.3106], [8.808, 1.192]], "output")

    def test_one_place(self, student):
        """A memory of one word, two heads: whoever asks gives it the weight 1, and gets its values through W_O."""
        given = self.of(0)
        given["memory"] = given["memory"][2:3]
        question = "Which text goes through W_V, and in which order do the heads stand before W_O?"
        with shown(question, **given, num_heads=2):
            output, weights = self.attend(student, given, 2)
            close(weights, np.ones((2, 3, 1)), "weights")
            close(output, [[4.0, -3.0, 8.0, 13.0, 4.0]] * 3, "output")

    def test_one_text(self, student):
        """No batch axis: three words of width 5, four of width 7, two heads with d_k = 4 and d_v = 3."""
        given = self.of(0)
        question = "One head is right if the checks above pass. Which columns does each of the two own?"
        with shown(question, **given, num_heads=2):
            output, weights = self.attend(student, given, 2)
            close(weights, ANSWERED_WEIGHTS, "weights")
            close(output, ANSWERED[0], "output")

    def test_batch(self, student):
        """Three texts at once: each asks its own memory, and gets what it gets alone."""
        with shown("Do you count axes from the end?", "exception", "shape", **ASKING, num_heads=2):
            output, weights = self.attend(student, ASKING, 2)
            expect.shape(weights, (3, 2, 3, 4), what="weights")
            close(output, ANSWERED, "output")

    def test_padding(self, student):
        """Each of two memories has padding of its own, the first at its end, the second in front."""
        given = ASKING | {"x": ASKING["x"][:2], "memory": ASKING["memory"][:2]}
        question = "Which axis of the weights belongs to memory, and where does padding get one for the heads?"
        with shown(question, "exception", "shape", **given, num_heads=2, memory_padding=REAL[:2]):
            output, weights = self.attend(student, given, 2, REAL[:2])
            close(weights, REAL_WEIGHTS, "weights")
            close(output, REAL_ANSWERED[:2], "output")

    def test_nothing_but_padding(self, student):
        """A memory that is nothing but padding: weights and output 0, alone and in a batch with others."""
        with shown("What does a softmax over nothing divide by?", **self.of(2), num_heads=2, memory_padding=REAL[2]):
            output, weights = self.attend(student, self.of(2), 2, REAL[2])
            close(weights, np.zeros((2, 3, 4)), "weights")
            close(output, np.zeros((3, 5)), "output")
        with shown("What does a softmax over nothing divide by?", **ASKING, num_heads=2, memory_padding=REAL):
            close(self.attend(student, ASKING, 2, REAL)[0], REAL_ANSWERED, "output")

    def test_two_batch_axes(self, student):
        """Two batch axes, (1, 3), and padding: the same numbers."""
        lifted = ASKING | {"x": ASKING["x"][np.newaxis], "memory": ASKING["memory"][np.newaxis]}
        with shown("How many axes may stand before (L, d_model)?", "exception", "shape"):
            close(self.attend(student, lifted, 2, REAL[np.newaxis])[0], REAL_ANSWERED[np.newaxis], "output")

    def test_equal_sizes(self, student):
        """Two texts of one shape: one more word of memory, as padding, changes nothing."""
        given = self.drawn(4, 4, 3)
        longer = given | {"memory": np.concatenate([given["memory"], np.ones((1, 6))])}
        with shown("Which text do the values come from?", **given, num_heads=3):
            output = self.attend(student, longer, 3, np.array([[True] * 4 + [False]]))[0]
            close(self.attend(student, given, 3)[0], output, "output")

    def test_eight_heads(self, student):
        """Eight heads: each answers as if alone. And with a third of W_Q and three times W_K nothing changes."""
        given = self.drawn(4, 5, 8)
        with shown("Is the number of heads, or a width, written into your code?", "exception", "shape", num_heads=8):
            output, weights = self.attend(student, given, 8)
            own = zip(*(np.split(given[f"W_{n}"], 8, axis=0 if n == "O" else 1) for n in "QKVO"), strict=True)
            names = ("W_Q", "W_K", "W_V", "W_O")
            alone = [self.attend(student, given | dict(zip(names, parts, strict=True)), 1) for parts in own]
            close(weights, np.concatenate([part for _, part in alone]), "weights")
            close(output, sum(part for part, _ in alone), "output")
        with shown("Is a number rounded on the way, or in half precision?"):
            large = given | {"x": 8 * given["x"]}
            scaled = large | {"W_Q": given["W_Q"] / 3, "W_K": 3 * given["W_K"]}
            for part, same in zip(self.attend(student, scaled, 8), self.attend(student, large, 8), strict=True):
                close(part, same)

    def test_seventy_words(self, student):
        """Seventy words ask seventy, two of them padding, all in reverse order: the same answers in reverse order."""
        given, real = self.drawn(70, 70, 3), np.arange(70)[np.newaxis] > 1
        with shown("Right for four words? Which number in your code is a size?", "exception", "shape"):
            turned = given | {"x": given["x"][::-1], "memory": given["memory"][::-1]}
            output, weights = self.attend(student, given, 3, real)
            other = self.attend(student, turned, 3, real[:, ::-1].copy())
            close(other[1], weights[..., ::-1, ::-1], "weights, the other way round")
            close(other[0], output[::-1], "output, the other way round")

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights, and no padding gets any."""
        given = self.of(0, x=1e4)
        question = "What is the exp of 1000, and what does a hidden score become?"
        with shown(question, **given, num_heads=2, memory_padding=REAL[0]):
            close(self.attend(student, given, 2, REAL[0])[1], SURE, "weights")

    def test_gradients_and_what_came_in(self, student):
        """Gradients reach both texts and the matrices; float32 gives float32, and what came in is as before."""
        import torch

        arguments, real = self.tensors(ASKING, REAL)
        names = "x memory W_Q W_K W_V W_O"
        with shown("Which line lets go of a gradient, makes another dtype, or writes into what came in?"):
            of_output, of_weights = torch.from_numpy(ANSWERED), torch.from_numpy(np.stack([ANSWERED_WEIGHTS] * 3))
            for seeds, count in (([of_output, None], 6), ([None, of_weights], 4)):
                got = student.cross_attention.gradients(*arguments, 2, seeds=seeds)
                arrives(got.inputs[:count], " ".join(names.split()[:count]))
            keeps(student.cross_attention, *arguments, 2, real, names=f"{names} num_heads memory_padding")
            for part in student.cross_attention(*arguments, 2, real):
                expect.dtype(part, np.float64)
